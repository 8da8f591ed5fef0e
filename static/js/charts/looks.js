// How the lines of one chart are told apart: six tones, then the same ones dashed.
const TONES = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6"];
const DASHES = [undefined, [6, 3], [2, 3], [9, 3, 2, 3]];

export function lineLook(index) {
  return { tone: TONES[index % TONES.length], toneNumber: (index % TONES.length) + 1, dash: DASHES[Math.floor(index / TONES.length) % DASHES.length] };
}
