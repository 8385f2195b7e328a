/** Prompts that bypass the chat template. */

import { randomBytes } from "node:crypto";
import type { LlamaModel, Token } from "node-llama-cpp";
import { RequestError } from "../errors.ts";
import type { RawPrompt } from "../types.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { PromptPieces } from "./prompt-builder.ts";
import { SpecialTokenEscaper } from "./special-token-escaper.ts";

interface InfillTokens {
  prefix: Token;
  suffix: Token;
  middle: Token;
}

export class RawPrompts {
  readonly #vocabularySize: number;
  readonly #specialTokens: SpecialTokenEscaper;
  readonly #infill: InfillTokens | undefined;

  constructor(model: LlamaModel, { size, specialTokenTexts }: Pick<Vocabulary, "size" | "specialTokenTexts">) {
    const { prefix, suffix, middle } = model.tokens.infill;
    this.#vocabularySize = size;
    this.#specialTokens = new SpecialTokenEscaper(specialTokenTexts);
    const isComplete = prefix !== null && suffix !== null && middle !== null;
    this.#infill = isComplete ? { prefix, suffix, middle } : undefined;
  }

  /** Whether the vocabulary has the tokens that mark a gap. */
  get fillsInTheMiddle(): boolean {
    return this.#infill !== undefined;
  }

  /** Throws a RequestError for token IDs outside the vocabulary and for a suffix that the model does not support. */
  pieces({ input, suffix }: RawPrompt): PromptPieces {
    const unknown = typeof input === "string" ? undefined : input.find((id) => id >= this.#vocabularySize);
    if (unknown !== undefined) {
      const message = `The prompt has the token ${unknown}, but this model's tokens are numbered 0 to ${this.#vocabularySize - 1}.`;
      throw new RequestError(message, "prompt", "invalid_value");
    }
    const before = typeof input === "string" ? [input] : (input as readonly Token[]);
    if (suffix === undefined) return before;
    if (this.#infill === undefined) {
      throw new RequestError("This model was not trained to fill in the middle.", "suffix", "unsupported_value");
    }
    const texts = typeof input === "string" ? this.#escape(input) : before;
    return [this.#infill.prefix, ...texts, this.#infill.suffix, ...this.#escape(suffix), this.#infill.middle];
  }

  /** Cuts control tokens in text around a gap, which would end or move the gap. */
  #escape(text: string): string[] {
    const marker = `\uE000${randomBytes(8).readBigUInt64LE()}\uE000`;
    return this.#specialTokens.escape(text, marker).split(marker);
  }
}
