// Another choice means other facts beside it: the address names the choice, the server shows them. What was typed and
// has nothing to do with the choice goes along.
document.addEventListener("change", (event) => {
  const name = event.target.dataset.reloadOnChoice;
  if (!name) return;
  const url = new URL(location.href);
  url.searchParams.set(name, event.target.value);
  for (const kept of event.target.form.querySelectorAll("[data-kept-on-choice]")) url.searchParams.set(kept.name, kept.value);
  location.assign(url);
});
