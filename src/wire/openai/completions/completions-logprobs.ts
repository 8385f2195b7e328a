/** Log probabilities of a text completion, in their legacy form. */

import type { z } from "zod";
import type { EchoedLogprob } from "../../../contracts/chat-model.ts";
import type { LegacyLogprobs as Logprobs } from "./text-completion-answers.ts";

/** An upstream may leave out or nullify what this service always has. */
export type LegacyLogprobs = {
  [Key in keyof z.output<typeof Logprobs>]-?: NonNullable<z.output<typeof Logprobs>[Key]>;
};

/** Appends tokens to the log probabilities of a choice; `offset` is the position of the first in the text. */
export function appendLogprobs(logprobs: LegacyLogprobs, added: readonly EchoedLogprob[], offset: number): void {
  let position = offset;
  for (const { token, logprob, top } of added) {
    logprobs.tokens.push(token);
    logprobs.token_logprobs.push(logprob ?? null);
    logprobs.top_logprobs.push(logprob === undefined ? null : toTop(token, logprob, top));
    logprobs.text_offset.push(position);
    position += token.length;
  }
}

/** Includes the token itself, as OpenAI does. */
function toTop(token: string, logprob: number, top: EchoedLogprob["top"]): Record<string, number> {
  return Object.fromEntries([...top.map((each) => [each.token, each.logprob] as const), [token, logprob]]);
}

export function emptyLogprobs(): LegacyLogprobs {
  return { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
}
