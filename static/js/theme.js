// Runs before the first paint, so that the page never flashes in the other theme; later follows the
// system's theme as long as this browser keeps no choice of its own.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("safehold.theme") ?? (system.matches ? "dark" : "light");
  root.dataset.bsTheme = chosen();
  system.addEventListener("change", () => {
    root.dataset.bsTheme = chosen();
    document.dispatchEvent(new CustomEvent("safehold:theme", { detail: root.dataset.bsTheme }));
  });
})();
