/** Control tokens of a model's vocabulary. */

import type { LlamaModel, Token } from "node-llama-cpp";

export class Vocabulary {
  readonly size: number;
  /** Texts that llama.cpp tokenizes to control tokens wherever they occur. */
  readonly specialTokenTexts: readonly string[];
  /** Texts of the end-of-generation tokens. */
  readonly endTexts: readonly string[];
  /** Texts of the other control tokens. */
  readonly #controls: ReadonlyMap<Token, string>;

  constructor(model: LlamaModel) {
    const specialTokenTexts: string[] = [];
    const endTexts: string[] = [];
    const controls = new Map<Token, string>();
    for (const token of model.iterateAllTokens()) {
      const { control, unknown } = model.getTokenAttributes(token);
      const isEnd = model.isEogToken(token);
      if (!control && !unknown && !isEnd) continue;
      const text = model.detokenize([token], true);
      specialTokenTexts.push(text);
      if (isEnd) endTexts.push(text);
      else controls.set(token, text);
    }
    this.size = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
    this.specialTokenTexts = specialTokenTexts;
    this.endTexts = endTexts;
    this.#controls = controls;
  }

  /** Control tokens without a meaning in the output, whose texts are not part of `tags`. */
  hiddenTokens(tags: readonly string[]): Set<Token> {
    const isTag = (text: string) => text !== "" && tags.some((tag) => tag.includes(text));
    return new Set([...this.#controls].filter(([, text]) => !isTag(text)).map(([token]) => token));
  }
}
