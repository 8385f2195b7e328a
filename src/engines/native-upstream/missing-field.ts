/** Fields of chat requests that not every provider has. */

import type { ChatRequest } from "../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";

/** Names of the fields in the caller's body. */
const PARAMS = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  minP: "min_p",
  seed: "seed",
  stop: "stop",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  repeatPenalty: "repetition_penalty",
  repeatLastN: "repeat_last_n",
  minTokens: "min_tokens",
  logitBias: "logit_bias",
  topLogprobs: "logprobs",
  choices: "n",
  verbosity: "verbosity",
  templateVariables: "chat_template_kwargs",
  reasoningEffort: "reasoning_effort",
  format: "response_format",
} as const satisfies Partial<Record<keyof ChatRequest, string>>;

export type OptionalField = keyof typeof PARAMS;

/** Values of `verbosity` and `reasoningEffort` that ask for nothing. */
const NEUTRAL: Readonly<Partial<Record<OptionalField, string>>> = { verbosity: "medium", reasoningEffort: "none" };

/** Returns the Fault for the first field that is set and that the provider, which has `fields`, does not have. */
export function firstMissingField(
  request: ChatRequest,
  provider: string,
  fields: ReadonlySet<OptionalField>,
): Fault | undefined {
  for (const field of Object.keys(PARAMS) as OptionalField[]) {
    if (fields.has(field) || !isSet(request, field)) continue;
    const param = PARAMS[field];
    return unsupportedValue(`${provider}'s API has no '${param}': leave it out, or use another model.`, param);
  }
  return undefined;
}

function isSet(request: ChatRequest, field: OptionalField): boolean {
  const value = request[field];
  if (value === undefined || value === NEUTRAL[field]) return false;
  const byDefault = (DEFAULT_CHAT_REQUEST as Partial<ChatRequest>)[field];
  return JSON.stringify(value) !== JSON.stringify(byDefault);
}
