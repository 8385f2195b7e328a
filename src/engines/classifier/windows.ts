/** Cuts a text of any length into windows of token ids, so that nothing of it goes unread. */

import { Tokenizer } from "@huggingface/tokenizers";
import { deobfuscate } from "./deobfuscate.ts";

const WINDOW_TOKENS = 126;
const OVERLAP_TOKENS = 24;
/** Tokenising is quick for a piece of this length, and an abort is noticed between two. */
const PIECE_CHARACTERS = 4000;
/** The tokenizer gives up on longer words and would see nothing in them. */
const LONGEST_WORD = 80;
const TOO_LONG_WORD = new RegExp(`(\\S{${LONGEST_WORD}})(?=\\S)`, "gu");

export class Windows {
  readonly #tokenizer: Tokenizer;
  readonly #begin: number;
  readonly #end: number;

  /** Takes the parsed tokenizer.json and tokenizer_config.json of a BERT-like model. */
  constructor(tokenizer: object, tokenizerConfig: object) {
    this.#tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
    this.#begin = this.#tokenizer.token_to_id("[CLS]") ?? 101;
    this.#end = this.#tokenizer.token_to_id("[SEP]") ?? 102;
  }

  /** At least one window; each begins and ends with the model's own marks. */
  *of(text: string): Generator<readonly number[], void> {
    let ids: number[] = [];
    let isFirst = true;
    for (const piece of pieces(deobfuscate(text).replace(TOO_LONG_WORD, "$1 "))) {
      ids.push(...this.#tokenizer.encode(piece, { add_special_tokens: false }).ids);
      while (ids.length > WINDOW_TOKENS) {
        yield this.#marked(ids.slice(0, WINDOW_TOKENS));
        ids = ids.slice(WINDOW_TOKENS - OVERLAP_TOKENS);
        isFirst = false;
      }
    }
    if (isFirst || ids.length > OVERLAP_TOKENS) yield this.#marked(ids);
  }

  #marked(ids: readonly number[]): readonly number[] {
    return [this.#begin, ...ids, this.#end];
  }
}

/** Cut at white space where there is some. */
function* pieces(text: string): Generator<string, void> {
  let at = 0;
  while (text.length - at > PIECE_CHARACTERS) {
    const space = text.lastIndexOf(" ", at + PIECE_CHARACTERS);
    const end = space > at ? space : at + PIECE_CHARACTERS;
    yield text.slice(at, end);
    at = end;
  }
  yield text.slice(at);
}
