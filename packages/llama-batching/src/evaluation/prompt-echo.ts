/** The prompt as the beginning of the answer, with log probabilities if the request asks for them. */

import type { Token } from "node-llama-cpp";
import type { Echo } from "../output/echo.ts";
import type { Sampler } from "../sampling/sampler.ts";
import type { EchoedLogprob, GenerationEvent, TokenLogprob } from "../types.ts";
import type { ChoiceOptions } from "./generation-options.ts";

/** Evaluating more tokens with logits would take hundreds of megabytes for large vocabularies. */
export const MAX_ECHOED_SLICE = 32;

export class PromptEcho {
  readonly #options: Pick<ChoiceOptions, "decoder" | "acquired" | "prompt" | "logprobs">;
  readonly #echo: Echo;
  /** Log probabilities of the prompt's tokens from the second on. */
  readonly #logprobs: EchoedLogprob[] = [];

  constructor(options: Pick<ChoiceOptions, "decoder" | "acquired" | "prompt" | "logprobs">, echo: Echo) {
    this.#options = options;
    this.#echo = echo;
  }

  /** Whether the prompt has to be evaluated with `evaluate`. */
  get readsLogprobs(): boolean {
    return this.#options.logprobs !== undefined;
  }

  /** Evaluates a slice of the prompt from `position` on. Returns the token that is sampled after the last slice. */
  async evaluate(
    slice: readonly Token[],
    position: number,
    sampler: Sampler,
  ): Promise<{ token: Token; logprob: TokenLogprob | undefined } | undefined> {
    const { decoder, acquired, logprobs, prompt } = this.#options;
    let sampled: { token: Token; logprob: TokenLogprob | undefined } | undefined;
    await decoder.evaluateEach(acquired.sequence, slice, async (index, offset) => {
      const next = prompt[position + offset + 1];
      const token = next ?? (await decoder.sample(index, sampler));
      const logprob = await logprobs?.of(index, token);
      if (next === undefined) sampled = { token, logprob };
      else if (logprob !== undefined) this.#logprobs[position + offset] = logprob;
    });
    return sampled;
  }

  /** Call once the prompt is evaluated. */
  event(choice: number): GenerationEvent {
    const { logprobs, prompt } = this.#options;
    const { text, firstToken } = this.#echo;
    const first = { ...logprobs?.describe(prompt[0] as Token), logprob: undefined, top: [] } as EchoedLogprob;
    const all = [first, ...this.#logprobs].slice(firstToken);
    return { type: "echo", choice, text, ...(logprobs === undefined ? {} : { logprobs: all }) };
  }
}
