/** Shorter texts fit into any context window, so splitting them further would not help. */
const MIN_CHARACTERS = 400;
/** Characters in both halves, to keep a phrase at the cut in one piece. */
const OVERLAP = 100;

/** Splits a text into two overlapping halves, at white space near the middle if there is any; [] for a short text. */
export function halvesOf(text: string): readonly string[] {
  if (text.length < MIN_CHARACTERS) return [];
  const middle = text.length >> 1;
  const near = /\s/.exec(text.slice(middle, middle + OVERLAP))?.index ?? 0;
  const cut = middle + near;
  return [text.slice(0, characterStart(text, cut + OVERLAP)), text.slice(characterStart(text, cut - OVERLAP))];
}

/** Moves an index out of a surrogate pair. */
function characterStart(text: string, index: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(index)) ? index - 1 : index;
}
