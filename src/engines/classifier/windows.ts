/** Splits a text of any length into windows of token ids that together cover all of it. */

import { Tokenizer } from "@huggingface/tokenizers";
import { deobfuscate } from "./deobfuscate.ts";

const WINDOW_TOKENS = 126;
const OVERLAP_TOKENS = 24;
/** A piece of this length is tokenized quickly, and an abort takes effect between two pieces. */
const PIECE_CHARACTERS = 4000;
/** The tokenizer maps longer words to one unknown token. */
const MAX_WORD_CHARACTERS = 80;
const TOO_LONG_WORD = new RegExp(`(\\S{${MAX_WORD_CHARACTERS}})(?=\\S)`, "gu");

export class Windows {
  readonly #tokenizer: Tokenizer;
  readonly #begin: number;
  readonly #end: number;

  /** Takes the parsed tokenizer.json and tokenizer_config.json of a BERT model. */
  constructor(tokenizer: object, tokenizerConfig: object) {
    this.#tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
    this.#begin = this.#tokenizer.token_to_id("[CLS]") ?? 101;
    this.#end = this.#tokenizer.token_to_id("[SEP]") ?? 102;
  }

  /** Returns at least one window; each begins and ends with the model's special tokens. */
  *of(text: string): Generator<readonly number[], void> {
    let ids: number[] = [];
    let isFirst = true;
    for (const piece of pieces(deobfuscate(text).replace(TOO_LONG_WORD, "$1 "))) {
      ids.push(...this.#tokenizer.encode(piece, { add_special_tokens: false }).ids);
      while (ids.length > WINDOW_TOKENS) {
        yield this.#withSpecialTokens(ids.slice(0, WINDOW_TOKENS));
        ids = ids.slice(WINDOW_TOKENS - OVERLAP_TOKENS);
        isFirst = false;
      }
    }
    if (isFirst || ids.length > OVERLAP_TOKENS) yield this.#withSpecialTokens(ids);
  }

  #withSpecialTokens(ids: readonly number[]): readonly number[] {
    return [this.#begin, ...ids, this.#end];
  }
}

/** Splits at white space where there is any. */
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
