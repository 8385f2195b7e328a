/** Log probabilities of the model's own distribution, before temperature, biases, penalties and grammar. */

import type { LlamaModel, Token } from "node-llama-cpp";
import type { LogitsIndex } from "../evaluation/batch-evaluator.ts";
import type { LogitReaders, NativeDecoder } from "../evaluation/native-decoder.ts";
import type { TokenBytes } from "../token-bytes.ts";
import type { TokenLogprob } from "../types.ts";

const UNSHAPED = { topP: 1, minP: 0, seed: 0 };
/** JSON cannot represent -Infinity. */
const MIN_LOGPROB = -9999;
const utf8 = new TextDecoder();

export interface LogprobTools {
  decoder: NativeDecoder;
  model: LlamaModel;
  bytes: TokenBytes;
}

/** Reads the logits of one choice's tokens. Dispose once. */
export class LogprobReader {
  readonly #tools: LogprobTools;
  readonly #topCount: number;
  readonly #readers: LogitReaders;

  constructor(tools: LogprobTools, topCount: number) {
    this.#tools = tools;
    this.#topCount = topCount;
    this.#readers = {
      flat: tools.decoder.createSampler({ ...UNSHAPED, temperature: 0, topK: 0 }),
      // At least one: the weight is relative to the most likely token.
      best: tools.decoder.createSampler({ ...UNSHAPED, temperature: 1, topK: Math.max(1, topCount) }),
    };
  }

  async of(index: LogitsIndex, token: Token): Promise<TokenLogprob> {
    const { top, logit, weight } = await this.#tools.decoder.readLogits(
      index,
      token,
      Math.max(1, this.#topCount),
      this.#readers,
    );
    const maxLogit = top[0]?.[1] ?? logit;
    const logprobOf = (each: number) => Math.max(MIN_LOGPROB, each - maxLogit - Math.log(weight));
    return {
      ...this.describe(token),
      logprob: logprobOf(logit),
      top: top.slice(0, this.#topCount).map(([each, logit]) => ({ ...this.describe(each), logprob: logprobOf(logit) })),
    };
  }

  dispose(): void {
    this.#readers.flat.dispose();
    this.#readers.best.dispose();
  }

  /** Returns the text and the bytes of a token. */
  describe(token: Token): Pick<TokenLogprob, "token" | "bytes"> {
    const bytes = this.#tools.bytes.of(token);
    return { token: utf8.decode(Uint8Array.from(bytes)), bytes };
  }
}
