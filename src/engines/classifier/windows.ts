/** Splits a text of any length into windows of token IDs that together cover all of it. */

import { Tokenizer } from "@huggingface/tokenizers";
import { deobfuscate } from "./deobfuscate.ts";
import { minorCueShare } from "./minor-cues.ts";

const WINDOW_TOKENS = 126;
const OVERLAP_TOKENS = 24;
/** Deobfuscating and tokenizing so many takes 10 ms at most, and other requests have their turn between two. */
const SECTION_CHARACTERS = 4000;
/** Read again with the next section, for what the cut divides. */
const SECTION_OVERLAP = 200;
/** The tokenizer maps longer words to one unknown token. */
const MAX_WORD_CHARACTERS = 80;
const TOO_LONG_WORD = new RegExp(`(\\S{${MAX_WORD_CHARACTERS}})(?=\\S)`, "gu");

interface Section {
  /** At least one; each begins and ends with the model's special tokens. */
  windows: readonly (readonly number[])[];
  minorCueShare: number;
}

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

  *sectionsOf(text: string): Generator<Section, void> {
    for (const section of cut(text)) {
      const plain = deobfuscate(section);
      yield { windows: this.#windowsOf(plain), minorCueShare: minorCueShare(plain) };
    }
  }

  #windowsOf(text: string): readonly (readonly number[])[] {
    const { ids } = this.#tokenizer.encode(text.replace(TOO_LONG_WORD, "$1 "), { add_special_tokens: false });
    const windows = [];
    for (let at = 0; at === 0 || ids.length - at > OVERLAP_TOKENS; at += WINDOW_TOKENS - OVERLAP_TOKENS) {
      windows.push(this.#withSpecialTokens(ids.slice(at, at + WINDOW_TOKENS)));
    }
    return windows;
  }

  #withSpecialTokens(ids: readonly number[]): readonly number[] {
    return [this.#begin, ...ids, this.#end];
  }
}

/** Splits at white space where there is any. */
function* cut(text: string): Generator<string, void> {
  let start = 0;
  while (text.length - start > SECTION_CHARACTERS) {
    const limit = start + SECTION_CHARACTERS;
    const space = text.lastIndexOf(" ", limit);
    const end = space > start + 2 * SECTION_OVERLAP ? space : limit;
    yield text.slice(start, end);
    const overlap = text.indexOf(" ", end - SECTION_OVERLAP);
    start = overlap !== -1 && overlap < end ? overlap : end - SECTION_OVERLAP;
  }
  yield text.slice(start);
}
