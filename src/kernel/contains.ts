/** Parts up to this length cost little in the worst case, and V8's own search is much faster in all others. */
const SHORT = 64;

/**
 * Like `text.includes(part)`, whose time grows with the product of both lengths for repetitive texts: with the sum here.
 * For two texts of which callers choose both. Knuth, Morris and Pratt, "Fast Pattern Matching in Strings", 1977.
 */
export function contains(text: string, part: string): boolean {
  if (part.length < SHORT) return text.includes(part);
  if (part.length > text.length) return false;
  const borders = bordersOf(part);
  let matched = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** Returns for each beginning of `part` the length of its longest proper beginning that is its end, too. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let index = 1; index < part.length; index += 1) {
    const code = part.charCodeAt(index);
    while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length += 1;
    borders[index] = length;
  }
  return borders;
}
