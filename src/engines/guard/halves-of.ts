/** Shorter texts fit into any window: what is refused as too long then is so for another reason. */
const SHORTEST = 400;
/** In both halves, so that what stands at the cut is read whole. */
const OVERLAP = 100;

/** A text in two parts that overlap, cut at white space where there is some near the middle; none when it is short. */
export function halvesOf(text: string): readonly string[] {
  if (text.length < SHORTEST) return [];
  const middle = text.length >> 1;
  const near = /\s/.exec(text.slice(middle, middle + OVERLAP))?.index ?? 0;
  const cut = middle + near;
  return [text.slice(0, wholeFrom(text, cut + OVERLAP)), text.slice(wholeFrom(text, cut - OVERLAP))];
}

/** Not inside a character. */
function wholeFrom(text: string, index: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(index)) ? index - 1 : index;
}
