/** Converts text to token IDs with the model's tokenizer.json. */

import { Tokenizer } from "@huggingface/tokenizers";
import { UnknownTokenError } from "./errors.ts";
import { textPieces } from "./text-pieces.ts";

export class SentenceTokenizer {
  readonly vocabularySize: number;
  readonly #tokenizer: Tokenizer;
  readonly #begin: number;
  readonly #end: number;

  /** Takes the parsed tokenizer.json and tokenizer_config.json of a BERT model. */
  constructor(tokenizer: { model?: { vocab?: object } }, tokenizerConfig: object) {
    this.#tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
    this.vocabularySize = Object.keys(tokenizer.model?.vocab ?? {}).length;
    this.#begin = this.#tokenizer.token_to_id("[CLS]") ?? 101;
    this.#end = this.#tokenizer.token_to_id("[SEP]") ?? 102;
  }

  /** Tokenizes without special tokens; each piece of the text takes some milliseconds. */
  *encodePieces(text: string): Generator<readonly number[], void> {
    for (const piece of textPieces(text)) yield this.#tokenizer.encode(piece, { add_special_tokens: false }).ids;
  }

  /** Removes the special tokens around the caller's IDs. Throws an UnknownTokenError for an ID outside the vocabulary. */
  stripSpecialTokens(ids: readonly number[], input: number): readonly number[] {
    const position = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < this.vocabularySize));
    if (position !== -1) throw new UnknownTokenError(input, position, ids[position] ?? -1, this.vocabularySize);
    const start = ids[0] === this.#begin ? 1 : 0;
    const end = ids.length > start && ids.at(-1) === this.#end ? ids.length - 1 : ids.length;
    return ids.slice(start, end);
  }

  addSpecialTokens(ids: readonly number[]): readonly number[] {
    return [this.#begin, ...ids, this.#end];
  }
}
