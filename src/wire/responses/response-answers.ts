/** Responses as clients get them, complete and as events. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { TokenLogprob } from "../openai/chat/completion-answers.ts";
import { ModerationError, NamedModerationResult } from "../openai/moderations.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { describedBy } from "../openapi/described-by.ts";
import { named } from "../openapi/named.ts";
import { ResponseAnnotation, ResponsePart } from "./content-answers.ts";
import { ListedItem } from "./conversation-answers.ts";
import { OutputItem } from "./item-answers.ts";
import { ToolChoiceField, Tools } from "./responses-tools.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);
const fields = z.record(z.string(), z.unknown());

export const ResponseUsage = named(
  "ResponseUsage",
  lazy.looseObject(() => ({
    input_tokens: count,
    input_tokens_details: z
      .looseObject({
        cached_tokens: count.optional().describe("Read from a cache of the prompt."),
        cache_write_tokens: count.optional().describe("Written to a cache of the prompt."),
      })
      .nullable()
      .optional(),
    output_tokens: count,
    output_tokens_details: z.looseObject({ reasoning_tokens: count.optional() }).nullable().optional(),
    total_tokens: count.optional(),
  })),
);

const ResponseError = lazy.looseObject(() => ({
  code: nullable.optional(),
  message: z.string(),
  type: z.string().optional(),
  param: nullable.optional(),
}));

const moderated = z.union([NamedModerationResult, ModerationError]);

export const ResponseModeration = named(
  "ResponseModeration",
  lazy.object(() => ({ input: moderated, output: moderated })),
);

export const Response = named(
  "Response",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    completed_at: z.int().nullable().optional(),
    status: z.string().describe("queued, in_progress, completed, incomplete, failed or cancelled."),
    model: z.string(),
    output: z.array(OutputItem),
    usage: ResponseUsage.nullable().optional().describe("Null before the end."),
    error: ResponseError.nullable().optional(),
    incomplete_details: z.looseObject({ reason: z.string().optional() }).nullable().optional(),
    background: z.boolean().nullable().optional(),
    conversation: z.looseObject({ id: z.string() }).nullable().optional(),
    frequency_penalty: z.number().nullable().optional(),
    instructions: z
      .union([z.string(), z.array(fields)])
      .nullable()
      .optional(),
    max_output_tokens: count.nullable().optional(),
    max_tool_calls: count.nullable().optional(),
    metadata: z.record(z.string(), z.string()).nullable().optional(),
    moderation: ResponseModeration.optional().describe("Result of the moderation that the request asked for."),
    parallel_tool_calls: z.boolean().optional(),
    presence_penalty: z.number().nullable().optional(),
    previous_response_id: nullable.optional(),
    prompt: z
      .looseObject({ id: z.string(), version: nullable.optional(), variables: fields.nullable().optional() })
      .nullable()
      .optional()
      .describe("Stored prompt of the request, with the version that was used."),
    prompt_cache_key: nullable.optional(),
    reasoning: z.looseObject({ effort: nullable.optional(), summary: nullable.optional() }).nullable().optional(),
    safety_identifier: nullable.optional(),
    service_tier: nullable.optional(),
    store: z.boolean().optional().describe("Whether the service stores the response."),
    temperature: z.number().nullable().optional(),
    text: z
      .looseObject({
        format: z.looseObject({ type: z.string(), name: nullable.optional(), schema: fields.optional() }).optional(),
        verbosity: nullable.optional(),
      })
      .optional(),
    tool_choice: describedBy(z.union([z.string(), fields]), ToolChoiceField).optional(),
    tools: describedBy(z.array(fields), Tools).optional().describe("As the request had them, without secrets."),
    top_logprobs: count.nullable().optional(),
    top_p: z.number().nullable().optional(),
    truncation: nullable.optional(),
    user: nullable.optional(),
  })),
);

export const CompactedResponse = named(
  "CompactedResponse",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("response.compaction"),
    created_at: z.int(),
    output: z.array(ListedItem),
    usage: ResponseUsage,
  })),
);
export const ResponseTokens = named(
  "ResponseTokenCount",
  z.object({ object: z.literal("response.input_tokens"), input_tokens: count }),
);

const numbered = { sequence_number: count };

/** Event of a type with these fields. */
function event<Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, shape: () => Fields) {
  return [type, lazy.looseObject(() => ({ type: z.literal(type), ...numbered, ...shape() }))] as const;
}

type EventOf<Entry> = Entry extends readonly [infer Type extends string, infer Schema]
  ? { [Key in Type]: Schema }
  : never;
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Schemas by the type of their events. */
function byType<Entries extends readonly (readonly [string, z.ZodType])[]>(...entries: Entries) {
  return Object.fromEntries(entries) as Intersection<EventOf<Entries[number]>>;
}

const whole = () => ({ response: Response });
const listed = () => ({ output_index: count, item: OutputItem });
const item = { item_id: z.string(), output_index: count };
const content = { ...item, content_index: count };
const summary = { ...item, summary_index: count };
const bare = () => item;

const commandPlace = { output_index: count, command_index: count };

export const ResponseEvent = named(
  "ResponseEvent",
  openAnswers(
    byType(
      event("response.created", whole),
      event("response.queued", whole),
      event("response.in_progress", whole),
      event("response.completed", whole),
      event("response.incomplete", whole),
      event("response.failed", whole),
      event("response.output_item.added", listed),
      event("response.output_item.done", listed),
      event("response.content_part.added", () => ({ ...content, part: ResponsePart })),
      event("response.content_part.done", () => ({ ...content, part: ResponsePart })),
      event("response.output_text.delta", () => ({
        ...content,
        delta: z.string(),
        logprobs: z.array(TokenLogprob).optional(),
      })),
      event("response.output_text.done", () => ({
        ...content,
        text: z.string(),
        logprobs: z.array(TokenLogprob).optional(),
      })),
      event("response.output_text.annotation.added", () => ({
        ...content,
        annotation_index: count,
        annotation: ResponseAnnotation,
      })),
      event("response.refusal.delta", () => ({ ...content, delta: z.string() })),
      event("response.refusal.done", () => ({ ...content, refusal: z.string() })),
      event("response.reasoning_text.delta", () => ({ ...content, delta: z.string() })),
      event("response.reasoning_text.done", () => ({ ...content, text: z.string() })),
      event("response.reasoning_summary_part.added", () => ({ ...summary, part: ResponsePart })),
      event("response.reasoning_summary_part.done", () => ({ ...summary, part: ResponsePart })),
      event("response.reasoning_summary_text.delta", () => ({ ...summary, delta: z.string() })),
      event("response.reasoning_summary_text.done", () => ({ ...summary, text: z.string() })),
      event("response.function_call_arguments.delta", () => ({ ...item, delta: z.string() })),
      event("response.function_call_arguments.done", () => ({
        ...item,
        name: z.string().optional(),
        arguments: z.string(),
      })),
      event("response.custom_tool_call_input.delta", () => ({ ...item, delta: z.string() })),
      event("response.custom_tool_call_input.done", () => ({ ...item, input: z.string() })),
      event("response.shell_call_command.added", () => ({ ...commandPlace, command: z.string() })),
      event("response.shell_call_command.delta", () => ({ ...commandPlace, delta: z.string() })),
      event("response.shell_call_command.done", () => ({ ...commandPlace, command: z.string() })),
      event("response.file_search_call.in_progress", bare),
      event("response.file_search_call.searching", bare),
      event("response.file_search_call.completed", bare),
      event("response.web_search_call.in_progress", bare),
      event("response.web_search_call.searching", bare),
      event("response.web_search_call.completed", bare),
      event("response.code_interpreter_call.in_progress", bare),
      event("response.code_interpreter_call.interpreting", bare),
      event("response.code_interpreter_call.completed", bare),
      event("response.code_interpreter_call_code.delta", () => ({ ...item, delta: z.string() })),
      event("response.code_interpreter_call_code.done", () => ({ ...item, code: z.string() })),
      event("response.image_generation_call.in_progress", bare),
      event("response.image_generation_call.generating", bare),
      event("response.image_generation_call.partial_image", () => ({
        ...item,
        partial_image_index: count,
        partial_image_b64: z.string(),
        size: z.string().optional(),
        quality: z.string().optional(),
        background: z.string().optional(),
        output_format: z.string().optional(),
      })),
      event("response.image_generation_call.completed", bare),
      event("response.mcp_list_tools.in_progress", bare),
      event("response.mcp_list_tools.completed", bare),
      event("response.mcp_list_tools.failed", bare),
      event("response.mcp_call.in_progress", bare),
      event("response.mcp_call.completed", bare),
      event("response.mcp_call.failed", bare),
      event("response.mcp_call_arguments.delta", () => ({ ...item, delta: z.string() })),
      event("response.mcp_call_arguments.done", () => ({ ...item, arguments: z.string() })),
      event("error", () => ({ code: nullable, message: z.string(), param: nullable.optional() })),
    ),
  ),
);
