// Another choice means other facts beside it: the address names the choice, the server shows them.
document.addEventListener("change", (event) => {
  const name = event.target.dataset.reloadOnChoice;
  if (!name) return;
  const url = new URL(location.href);
  url.searchParams.set(name, event.target.value);
  location.assign(url);
});
