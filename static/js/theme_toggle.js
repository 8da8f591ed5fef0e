// Keeps the choice in this browser and tells the charts, which draw on canvas.
document.querySelector("[data-theme-toggle]")?.addEventListener("click", () => {
  const root = document.documentElement;
  const theme = root.dataset.bsTheme === "dark" ? "light" : "dark";
  root.dataset.bsTheme = theme;
  localStorage.setItem("safehold.theme", theme);
  document.dispatchEvent(new CustomEvent("safehold:theme", { detail: theme }));
});
