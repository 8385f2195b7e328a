/** POST /v1/chat/completions: what is checked of a request's body for every model, local or upstream. */

import { z } from "zod";
import { ChatModeration } from "./chat-moderation.ts";

/** Clients write null where they mean "not set". */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const Decimal = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum);
const PositiveInteger = z.int().min(1);
/** Zod words an integer's bound as a decimal's, so the upper bound is a check of its own. */
const Integer = (minimum: number, maximum: number) =>
  z
    .int()
    .min(minimum)
    .refine((value) => value <= maximum, {
      message: `it must be at most ${maximum}`,
      params: { code: "integer_above_max_value" },
    });
const StopText = z.string().min(1);

const ContentPart = z.looseObject({ type: z.string() }).check((context) => {
  const { type, text } = context.value;
  if (type !== "text" || typeof text === "string") return;
  context.issues.push({ code: "invalid_type", expected: "string", path: ["text"], input: text });
});
const Content = z.union([z.string(), z.array(ContentPart).min(1)]);

const ToolCall = z.looseObject({ id: z.string(), type: z.string() });

/** An assistant message that calls tools or refuses may have no content; any other must have some. */
const AssistantMessage = z
  .looseObject({
    role: z.literal("assistant"),
    content: Content.nullish(),
    tool_calls: z.array(ToolCall).nullish(),
    refusal: z.string().nullish(),
  })
  .check((context) => {
    const { content, tool_calls, function_call, refusal, audio } = context.value;
    if (content === undefined || content === null) {
      if (tool_calls || function_call || refusal || audio) return;
      context.issues.push({
        code: "custom",
        path: ["content"],
        input: content,
        message: "an assistant message needs text unless it has tool_calls or a refusal",
        params: { code: content === null ? "invalid_type" : "missing_required_parameter" },
      });
    }
  });

const Message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("developer"), content: Content }),
    z.looseObject({ role: z.literal("system"), content: Content }),
    z.looseObject({ role: z.literal("user"), content: Content }),
    AssistantMessage,
    z.looseObject({ role: z.literal("tool"), content: Content, tool_call_id: z.string() }),
    z.looseObject({ role: z.literal("function"), content: z.string().nullable(), name: z.string() }),
  ],
  { error: "it must be developer, system, user, assistant, tool or function" },
);

export type Message = z.output<typeof Message>;

/** Other fields stay in the object: an upstream gets them, a local model refuses those it does not know. */
export const ChatCompletionBody = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(Message).min(1),
    stream: optional(z.boolean()),
    stream_options: optional(
      z.looseObject({ include_usage: optional(z.boolean()), include_obfuscation: optional(z.boolean()) }),
    ),
    temperature: optional(Decimal(0, 2)),
    top_p: optional(Decimal(0, 1)),
    n: optional(Integer(1, 128)),
    max_tokens: optional(PositiveInteger),
    max_completion_tokens: optional(PositiveInteger),
    stop: optional(z.union([StopText, z.array(StopText).max(4)])),
    frequency_penalty: optional(Decimal(-2, 2)),
    presence_penalty: optional(Decimal(-2, 2)),
    logit_bias: optional(z.record(z.string(), Decimal(-100, 100))),
    // 64-bit seeds are allowed, so not z.int(), which ends at 2^53.
    seed: optional(
      z.number().refine(Number.isInteger, { message: "it must be a whole number", params: { code: "invalid_type" } }),
    ),
    logprobs: optional(z.boolean()),
    top_logprobs: optional(Integer(0, 20)),
    response_format: optional(z.looseObject({ type: z.enum(["text", "json_object", "json_schema"]) })),
    tools: optional(z.array(z.looseObject({ type: z.string() }))),
    tool_choice: optional(z.union([z.string(), z.looseObject({ type: z.string() })])),
    parallel_tool_calls: optional(z.boolean()),
    user: optional(z.string()),
    metadata: optional(z.record(z.string(), z.unknown())),
    store: optional(z.boolean()),
    service_tier: optional(z.string()),
    moderation: optional(ChatModeration),
  })
  .check((context) => {
    const { stream, stream_options, logprobs, top_logprobs } = context.value;
    if (stream_options !== undefined && stream !== true) {
      context.issues.push({
        code: "custom",
        path: ["stream_options"],
        input: stream_options,
        message: "it may be set only when 'stream' is true",
      });
    }
    if (top_logprobs !== undefined && logprobs !== true) {
      context.issues.push({
        code: "custom",
        path: ["top_logprobs"],
        input: top_logprobs,
        message: "it may be set only when 'logprobs' is true",
      });
    }
  });

export type ChatCompletionBody = z.output<typeof ChatCompletionBody>;
