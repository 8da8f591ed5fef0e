// Which metrics are asked for together: an address must not grow beyond what servers and proxies take.
const MOST_NAMES = 100; // the server takes 200
const MOST_CHARACTERS = 6000;

// Return the names, each once, in groups that fit into one question.
export function questions(names) {
  const groups = [];
  let room = 0;
  for (const name of new Set(names)) {
    const size = encodeURIComponent(name).length + "&names=".length;
    if (groups.length === 0 || room < size || groups.at(-1).length === MOST_NAMES) { groups.push([]); room = MOST_CHARACTERS; }
    groups.at(-1).push(name);
    room -= size;
  }
  return groups;
}
