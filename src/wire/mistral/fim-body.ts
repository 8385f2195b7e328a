/** Bodies of Mistral's POST /v1/fim/completions: code before and after a gap, which the model fills in. */

import { z } from "zod";
import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatDefaults, ChatRequest } from "../../contracts/chat-model.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import type { FormatContext } from "../chat-format.ts";
import { optional } from "../openai/optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";

const StopText = z.string().min(1);

export const FimBody = named(
  "FimCompletionBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    prompt: z.string().min(1).describe("Text before the gap."),
    suffix: optional(z.string()).describe("Text after the gap; without it, the model continues the prompt."),
    temperature: optional(z.number().min(0).max(2)),
    top_p: optional(z.number().min(0).max(1)),
    max_tokens: optional(z.int().min(1)),
    min_tokens: optional(z.int().min(0)),
    stop: optional(z.union([StopText, listOf(StopText).max(4)])),
    random_seed: optional(z.int().min(0)),
    stream: optional(z.boolean()),
    metadata: optional(z.record(z.string(), z.unknown())),
  })),
);

export type FimBody = z.output<typeof FimBody>;

/** Throws a Fault that names the first invalid field. */
export function readFimBody(value: unknown): FimBody {
  return parse(FimBody, value);
}

/** Returns the names of fields without effect. Throws a Fault for one that must not be ignored. */
export function ignoredFimFields(body: FimBody, policy: UnknownFieldsPolicy): string[] {
  return checkUnknownFields(body, { known: Object.keys(FimBody.shape), unsupported: {}, policy });
}

/** Converts the body; fields that it leaves out have the model's defaults, and the answer ends where the gap is filled. */
export function toFimCall(body: FimBody, context: FormatContext, defaults: ChatDefaults = {}): ChatCall {
  const { prompt, suffix = "" } = body;
  const omitted = defaultChatRequest(defaults);
  const request: ChatRequest = {
    ...omitted,
    model: body.model,
    messages: [],
    temperature: body.temperature ?? omitted.temperature,
    topP: body.top_p ?? omitted.topP,
    maxTokens: body.max_tokens ?? omitted.maxTokens,
    minTokens: body.min_tokens,
    stop: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
    seed: body.random_seed,
    // A prompt without a template has no place for reasoning.
    reasoningEffort: undefined,
    callerHeaders: context.callerHeaders,
  };
  return {
    request,
    prompts: [{ input: prompt, suffix: suffix === "" ? undefined : suffix }],
    moderationInput: () => ({ texts: [prompt, suffix].filter(Boolean), unmoderatable: undefined }),
    withDefaults: (more) => toFimCall(body, context, { ...more, ...defaults }),
  };
}
