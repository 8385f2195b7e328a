/** Chat completions: complete, in chunks and stored. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { named } from "../../openapi/named.ts";
import { ErrorAnswer } from "../../openapi/service-answers.ts";
import { ModerationError, NamedModerationResult } from "../moderations.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);

export const ChatUsage = named(
  "ChatCompletionUsage",
  lazy.looseObject(() => ({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: z
      .looseObject({
        cached_tokens: count.nullable().optional().describe("Read from a cache of the prompt."),
        cache_write_tokens: count.nullable().optional().describe("Written to a cache of the prompt."),
        audio_tokens: count.nullable().optional(),
      })
      .nullable()
      .optional(),
    completion_tokens_details: z
      .looseObject({
        reasoning_tokens: count.nullable().optional(),
        audio_tokens: count.nullable().optional(),
        accepted_prediction_tokens: count.nullable().optional(),
        rejected_prediction_tokens: count.nullable().optional(),
      })
      .nullable()
      .optional(),
  })),
);

const alternative = lazy.looseObject(() => ({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable().optional().describe("UTF-8 bytes of the token."),
}));

export const TokenLogprob = named(
  "TokenLogprob",
  lazy.looseObject(() => ({
    ...alternative.shape,
    top_logprobs: z.array(alternative).optional().describe("The most likely tokens at this position."),
  })),
);

const ChoiceLogprobs = named(
  "ChatCompletionLogprobs",
  lazy.looseObject(() => ({
    content: z.array(TokenLogprob).nullable().optional(),
    refusal: z.array(TokenLogprob).nullable().optional(),
  })),
);

export const ReasoningDetail = named(
  "ReasoningDetail",
  lazy.looseObject(() => ({
    type: z.string().describe("`reasoning.text` or `reasoning.encrypted`."),
    index: count.optional(),
    text: nullable.optional(),
    signature: nullable.optional().describe("Value by which the provider recognizes the reasoning."),
    data: z.string().optional().describe("Reasoning that only its provider can read."),
  })),
);

const ExtraContent = named(
  "ToolCallExtraContent",
  lazy.looseObject(() => ({ google: z.looseObject({ thought_signature: z.string().optional() }).optional() })),
);

export const ToolCall = named(
  "ChatCompletionToolCall",
  lazy.looseObject(() => ({
    id: z.string(),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string(), arguments: z.string().describe("JSON.") }),
    extra_content: ExtraContent.optional(),
  })),
);

export const UrlCitation = named(
  "ChatCompletionUrlCitation",
  lazy.looseObject(() => ({
    type: z.literal("url_citation"),
    url_citation: z.looseObject({
      url: z.string(),
      title: z.string(),
      start_index: count.describe("Place of the mark in the content, in UTF-16 units."),
      end_index: count,
    }),
  })),
);

/** Fields of reasoning, under the names that clients read. */
const reasoning = {
  reasoning_content: nullable.optional().describe("Reasoning as DeepSeek's clients read it."),
  reasoning: nullable.optional().describe("Reasoning as vLLM's and OpenRouter's clients read it."),
  reasoning_details: z.array(ReasoningDetail).optional().describe("Reasoning to send back with the next request."),
};

const ChatMessage = named(
  "ChatCompletionMessage",
  lazy.looseObject(() => ({
    role: z.literal("assistant"),
    content: nullable.optional(),
    refusal: nullable.optional().describe("Text with which the model declines to answer."),
    ...reasoning,
    tool_calls: z.array(ToolCall).nullable().optional(),
    annotations: z.array(UrlCitation).optional().describe("Pages that the answer cites, with `web_search_options`."),
  })),
);

const finishReason = z.string().describe("stop, length, tool_calls or content_filter; upstreams may have others.");

const ChatChoice = named(
  "ChatCompletionChoice",
  lazy.looseObject(() => ({
    index: count,
    message: ChatMessage,
    logprobs: ChoiceLogprobs.nullable().optional(),
    finish_reason: finishReason,
  })),
);

const moderated = z.union([
  lazy.object(() => ({
    type: z.literal("moderation_results"),
    model: z.string(),
    results: z.array(NamedModerationResult),
  })),
  ModerationError,
]);

export const ChatModeration = named(
  "ChatCompletionModeration",
  lazy.object(() => ({ input: moderated, output: moderated })),
);

const envelope = { id: z.string(), created: z.int(), model: z.string() };
const upstreams = { system_fingerprint: nullable.optional(), service_tier: nullable.optional() };

export const ChatCompletion = named(
  "ChatCompletion",
  lazy.looseObject(() => ({
    ...envelope,
    object: z.literal("chat.completion"),
    choices: z.array(ChatChoice),
    usage: ChatUsage.nullable().optional(),
    ...upstreams,
    moderation: ChatModeration.optional().describe("Result of the moderation that the request asked for."),
  })),
);

const ChatToolCallDelta = named(
  "ChatCompletionToolCallDelta",
  lazy.looseObject(() => ({
    index: count,
    id: z.string().optional(),
    type: z.literal("function").optional(),
    function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
    extra_content: ExtraContent.optional(),
  })),
);

export const ChatDelta = named(
  "ChatCompletionDelta",
  lazy.looseObject(() => ({
    role: z.literal("assistant").optional(),
    content: nullable.optional(),
    refusal: nullable.optional(),
    ...reasoning,
    tool_calls: z.array(ChatToolCallDelta).nullable().optional(),
    annotations: z.array(UrlCitation).optional(),
  })),
);

const ChunkChoice = named(
  "ChatCompletionChunkChoice",
  lazy.looseObject(() => ({
    index: count,
    delta: ChatDelta,
    logprobs: ChoiceLogprobs.nullable().optional(),
    finish_reason: finishReason.nullable().optional(),
  })),
);

const ChatCompletionChunk = named(
  "ChatCompletionChunk",
  lazy.looseObject(() => ({
    ...envelope,
    object: z.literal("chat.completion.chunk"),
    choices: z.array(ChunkChoice).describe("Empty in chunks of usage and moderation."),
    usage: ChatUsage.nullable().optional().describe("With `stream_options.include_usage`, in the last chunk."),
    ...upstreams,
    moderation: ChatModeration.optional(),
  })),
);

export const ChatCompletionEvent = named(
  "ChatCompletionEvent",
  z.union([ChatCompletionChunk, ErrorAnswer]).describe("An error ends the stream."),
);

const page = { first_id: nullable, last_id: nullable, has_more: z.boolean() };

const repeated = z.unknown().optional().describe("As the request had it.");

export const StoredCompletion = named(
  "StoredCompletion",
  lazy.looseObject(() => ({
    ...ChatCompletion.shape,
    request_id: z.string().describe("ID of the request in the request history."),
    metadata: z.record(z.string(), z.string()),
    input_user: z.null(),
    temperature: repeated,
    top_p: repeated,
    presence_penalty: repeated,
    frequency_penalty: repeated,
    seed: repeated,
    tools: repeated,
    tool_choice: repeated,
    response_format: repeated,
    truncated: z
      .literal(true)
      .optional()
      .describe(
        "Parts were left out, because they were larger than `recorded_content.max_content_kilobytes`. Not in OpenAI's API.",
      ),
  })),
);

export const StoredCompletionPage = listOfEntries(StoredCompletion);

const StoredMessage = named(
  "StoredCompletionMessage",
  lazy.object(() => ({
    id: z.string(),
    role: z.string(),
    name: z.string().optional(),
    content: nullable,
    content_parts: z
      .array(
        z.union([
          z.object({ type: z.literal("text"), text: z.string() }),
          z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
        ]),
      )
      .nullable(),
    tool_calls: z.array(ToolCall).optional(),
    tool_call_id: z.string().optional(),
  })),
);

export const StoredCompletionMessages = named(
  "StoredCompletionMessages",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(StoredMessage), ...page })),
);
