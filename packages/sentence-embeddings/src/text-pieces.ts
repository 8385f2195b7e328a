/** Cuts a text into pieces that a tokenizer reads in some milliseconds each. */

/** The tokenizer's time grows faster than the text; white space ends a word, so a cut there changes nothing. */
const PIECE_CHARACTERS = 4000;
/** Text without white space is cut here: its words are unknown tokens, or cut at most one that is not. */
const MAX_PIECE_CHARACTERS = 2 * PIECE_CHARACTERS;
const WHITE_SPACE = /\s/;

export function* textPieces(text: string): Generator<string, void> {
  let start = 0;
  for (let at = PIECE_CHARACTERS; at < text.length; at += 1) {
    if (at - start < PIECE_CHARACTERS) continue;
    if (at - start < MAX_PIECE_CHARACTERS && !WHITE_SPACE.test(text[at] ?? "")) continue;
    yield text.slice(start, at);
    start = at;
  }
  yield text.slice(start);
}
