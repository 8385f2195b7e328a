/** What the model itself held likely, before temperature, biases, penalties and grammar shape what is drawn. */

import type { LlamaModel, Token } from "node-llama-cpp";
import type { TokenLogprob } from "../chat-model.ts";
import type { TokenBytes } from "./token-bytes.ts";
import type { Decoder, LogitReaders, LogitsIndex } from "./unpublished.ts";

const PLAIN = { topP: 1, minP: 0, seed: 0 };
/** JSON has no word for the logarithm of nothing. */
const LEAST = -9999;
const text = new TextDecoder();

export interface LogprobTools {
  decoder: Decoder;
  model: LlamaModel;
  bytes: TokenBytes;
}

/** Reads the logits of one answer's tokens. To be disposed once. */
export class Logprobs {
  readonly #tools: LogprobTools;
  readonly #wanted: number;
  readonly #readers: LogitReaders;

  constructor(tools: LogprobTools, wanted: number) {
    this.#tools = tools;
    this.#wanted = wanted;
    this.#readers = {
      flat: tools.decoder.makeSampler({ ...PLAIN, temperature: 0, topK: 0 }),
      // At least one, because weights are told relative to the likeliest token.
      best: tools.decoder.makeSampler({ ...PLAIN, temperature: 1, topK: Math.max(1, wanted) }),
    };
  }

  async of(index: LogitsIndex, token: Token): Promise<TokenLogprob> {
    const { top, logit, weight } = await this.#tools.decoder.readLogits(
      index,
      token,
      Math.max(1, this.#wanted),
      this.#readers,
    );
    const greatest = top[0]?.[1] ?? logit;
    const logprobOf = (each: number) => Math.max(LEAST, each - greatest - Math.log(weight));
    return {
      ...this.#name(token, logprobOf(logit)),
      top: top.slice(0, this.#wanted).map(([each, itsLogit]) => this.#name(each, logprobOf(itsLogit))),
    };
  }

  dispose(): void {
    this.#readers.flat.dispose();
    this.#readers.best.dispose();
  }

  #name(token: Token, logprob: number): Omit<TokenLogprob, "top"> {
    const bytes = this.#tools.bytes.of(token);
    return { token: text.decode(Uint8Array.from(bytes)), logprob, bytes };
  }
}
