/** Text completions, complete and in chunks. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { named } from "../../openapi/named.ts";
import { ErrorAnswer } from "../../openapi/service-answers.ts";
import { ChatUsage } from "../chat/completion-answers.ts";

export const LegacyLogprobs = named(
  "TextCompletionLogprobs",
  lazy.looseObject(() => ({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number().nullable()).describe("Null for the first token of an echoed prompt."),
    top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullable().optional(),
    text_offset: z.array(z.int()).optional().describe("Position of each token in the choice's text."),
  })),
);

const choice = {
  index: z.int().min(0),
  text: z.string(),
  logprobs: LegacyLogprobs.nullable().optional(),
};
const finishReason = z.string().describe("stop, length or content_filter; upstreams may have others.");
const envelope = { id: z.string(), object: z.literal("text_completion"), created: z.int(), model: z.string() };

export const TextCompletion = named(
  "TextCompletion",
  lazy.looseObject(() => ({
    ...envelope,
    choices: z.array(z.looseObject({ ...choice, finish_reason: finishReason })),
    usage: ChatUsage.nullable().optional(),
    system_fingerprint: z.string().nullable().optional(),
  })),
);

const TextCompletionChunk = named(
  "TextCompletionChunk",
  lazy.looseObject(() => ({
    ...envelope,
    choices: z.array(z.looseObject({ ...choice, finish_reason: finishReason.nullable().optional() })),
    usage: ChatUsage.nullable().optional().describe("With `stream_options.include_usage`, in the last chunk."),
    system_fingerprint: z.string().nullable().optional(),
  })),
);

export const TextCompletionEvent = named(
  "TextCompletionEvent",
  z.union([TextCompletionChunk, ErrorAnswer]).describe("An error ends the stream."),
);
