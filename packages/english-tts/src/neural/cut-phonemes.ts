/** Maps phonemes to IDs of the vocabulary, in pieces of at most `max` IDs cut between words. Drops unknown phonemes. */
export function cutPhonemes(phonemes: string, vocabulary: Readonly<Record<string, number>>, max: number): number[][] {
  const pieces: number[][] = [];
  let current: number[] = [];
  for (const word of phonemes.split(/(?<= )/)) {
    const ids = [...word].map((phoneme) => vocabulary[phoneme]).filter((id) => id !== undefined);
    if (current.length + ids.length > max && current.length > 0) {
      pieces.push(current);
      current = [];
    }
    for (let start = 0; start < ids.length; start += max) {
      if (start > 0) {
        pieces.push(current);
        current = [];
      }
      current.push(...ids.slice(start, start + max));
    }
  }
  pieces.push(current);
  return pieces.filter((piece) => piece.length > 0);
}
