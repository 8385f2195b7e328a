/** Properties of a model's vocabulary. */

import type { LlamaModel, Token } from "node-llama-cpp";

/** WordPiece and unigram tokenizers change case, accents or white space. */
const NORMALIZING_KINDS: ReadonlySet<string> = new Set(["bert", "t5"]);

export class Vocabulary {
  readonly size: number;
  /** Length of the longest token; undefined for tokenizers that normalize text, where one token may cover more. */
  readonly maxTokenBytes: number | undefined;
  /** Texts that llama.cpp tokenizes to control tokens wherever they occur. */
  readonly specialTokenTexts: readonly string[];
  /** Texts of the end-of-generation tokens. */
  readonly endTexts: readonly string[];
  readonly endTokens: readonly Token[];
  /** Texts of the other control tokens. */
  readonly #controls: ReadonlyMap<Token, string>;

  constructor(model: LlamaModel) {
    const specialTokenTexts: string[] = [];
    const endTexts: string[] = [];
    const endTokens: Token[] = [];
    const controls = new Map<Token, string>();
    for (const token of model.iterateAllTokens()) {
      const { control, unknown } = model.getTokenAttributes(token);
      const isEnd = model.isEogToken(token);
      if (!control && !unknown && !isEnd) continue;
      const text = model.detokenize([token], true);
      specialTokenTexts.push(text);
      if (isEnd) {
        endTexts.push(text);
        endTokens.push(token);
      } else controls.set(token, text);
    }
    const { tokens, model: kind } = model.fileInfo.metadata.tokenizer.ggml;
    this.size = tokens.length;
    this.maxTokenBytes = NORMALIZING_KINDS.has(kind) ? undefined : maxLength(tokens);
    this.specialTokenTexts = specialTokenTexts;
    this.endTexts = endTexts;
    this.endTokens = endTokens;
    this.#controls = controls;
  }

  /** Control tokens without a meaning in the output, whose texts are not part of `tags`. */
  hiddenTokens(tags: readonly string[]): Set<Token> {
    const isTag = (text: string) => text !== "" && tags.some((tag) => tag.includes(text));
    return new Set([...this.#controls].filter(([, text]) => !isTag(text)).map(([token]) => token));
  }
}

function maxLength(tokens: readonly string[]): number {
  let max = 1;
  for (const token of tokens) max = Math.max(max, Buffer.byteLength(token));
  return max;
}
