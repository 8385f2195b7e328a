/** What a model's vocabulary says of its tokens. */

import type { LlamaModel, Token } from "node-llama-cpp";

export class Vocabulary {
  readonly size: number;
  /** What llama.cpp turns into control tokens wherever it stands in a text. */
  readonly specialTexts: readonly string[];
  /** Texts of the tokens that end an answer. */
  readonly endTexts: readonly string[];
  /** Control tokens that do not end an answer, with their texts. */
  readonly #controls: ReadonlyMap<Token, string>;

  constructor(model: LlamaModel) {
    const specialTexts: string[] = [];
    const endTexts: string[] = [];
    const controls = new Map<Token, string>();
    for (const token of model.iterateAllTokens()) {
      const { control, unknown } = model.getTokenAttributes(token);
      const isEnd = model.isEogToken(token);
      if (!control && !unknown && !isEnd) continue;
      const text = model.detokenize([token], true);
      specialTexts.push(text);
      if (isEnd) endTexts.push(text);
      else controls.set(token, text);
    }
    this.size = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
    this.specialTexts = specialTexts;
    this.endTexts = endTexts;
    this.#controls = controls;
  }

  /** Control tokens that say nothing, `marks` being those that mean something in an answer. */
  silentTokens(marks: readonly string[]): Set<Token> {
    const isMark = (text: string) => text !== "" && marks.some((mark) => mark.includes(text));
    return new Set([...this.#controls].filter(([, text]) => !isMark(text)).map(([token]) => token));
  }
}
