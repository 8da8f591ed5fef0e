// Asks the server in the name of the person; null where there is no answer to use.
export async function ask(url) {
  const response = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.status === 401) document.dispatchEvent(new CustomEvent("safehold:signed-out"));
  return response?.ok && !response.redirected ? response : null;
}
