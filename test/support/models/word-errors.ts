import { distance } from "fastest-levenshtein";

/** Lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Number of words to insert, delete or replace to turn `transcript` into `reference`. */
export function wordErrors(reference: string, transcript: string): number {
  // Maps each distinct word to one character, so the edit distance counts words.
  const characters = new Map<string, string>();
  const encode = (text: string) =>
    wordsOf(text)
      .map((word) => {
        const known = characters.get(word) ?? String.fromCharCode(0x4e00 + characters.size);
        characters.set(word, known);
        return known;
      })
      .join("");
  return distance(encode(reference), encode(transcript));
}
