/** POST /v1/responses: validates the body for every model, local or upstream. */

import { z } from "zod";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../kernel/list-of.ts";
import { ChatModeration } from "../openai/chat/chat-moderation.ts";
import { optional } from "../openai/optional.ts";
import { PromptReference } from "../openai/prompts/prompt-content.ts";
import { parse } from "../openai/validate.ts";
import { describedBy } from "../openapi/described-by.ts";
import { named } from "../openapi/named.ts";
import { otherToolForm } from "../tool-forms.ts";
import { Metadata } from "./metadata.ts";
import { Input } from "./responses-input.ts";
import { ToolChoiceField, Tools } from "./responses-tools.ts";

const Format = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal(["text", "json_object"]) }),
    lazy.looseObject(() => ({
      type: z.literal("json_schema"),
      name: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()),
    })),
  ],
  { error: "it must be text, json_object or json_schema" },
);

const FIELDS = {
  model: z.string().min(1),
  input: optional(Input),
  instructions: optional(z.string()),
  prompt: optional(PromptReference),
  stream: optional(z.boolean()),
  stream_options: optional(
    describedBy(z.looseObject({}), z.looseObject({ include_obfuscation: z.boolean().optional() })),
  ),
  tools: optional(Tools),
  tool_choice: optional(ToolChoiceField),
  parallel_tool_calls: optional(z.boolean()),
  max_tool_calls: optional(z.int().min(1)),
  max_output_tokens: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  top_logprobs: optional(z.int().min(0).max(20)),
  // Fields of the Open Responses specification.
  frequency_penalty: optional(z.number().min(-2).max(2)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  text: optional(lazy.looseObject(() => ({ format: optional(Format), verbosity: optional(z.string()) }))),
  reasoning: optional(lazy.looseObject(() => ({ effort: optional(z.string().min(1)), summary: optional(z.string()) }))),
  include: optional(listOf(z.string()).max(100)),
  context_management: optional(
    parsedListOf(
      lazy.looseObject(() => ({
        type: z.literal("compaction", { error: "it must be compaction" }),
        compact_threshold: z
          .int({ error: "it must be a number of tokens, above which the context is compacted" })
          .min(1),
      })),
    ).max(1),
  ),
  truncation: optional(z.enum(["auto", "disabled"])),
  store: optional(z.boolean()),
  previous_response_id: optional(z.string().min(1)),
  conversation: optional(
    z.union([z.string().min(1), lazy.looseObject(() => ({ id: z.string().min(1) }))]).transform((value) => {
      return typeof value === "string" ? value : value.id;
    }),
  ),
  background: optional(z.boolean()),
  metadata: optional(Metadata),
  prompt_cache_key: optional(z.string()),
  service_tier: optional(z.string()),
  safety_identifier: optional(z.string()),
  user: optional(z.string()),
  moderation: optional(ChatModeration),
};

export const ResponsesBody = named("ResponsesBody", z.looseObject(FIELDS));

export type ResponsesBody = z.output<typeof ResponsesBody>;

/** Validates the body. Throws a Fault that names the first invalid field. */
export function readResponsesBody(value: unknown): ResponsesBody {
  const body = parse(ResponsesBody, value, (path) => otherToolForm(value, path, "responses"));
  const { input, prompt, previous_response_id: previous, conversation, background, store } = body;
  if (body.stream_options !== undefined && body.stream !== true) {
    const message = "Invalid value for 'stream_options': it may be set only when 'stream' is true.";
    throw invalidRequest(message, "stream_options", "invalid_value");
  }
  if (previous !== undefined && conversation !== undefined) {
    throw invalidRequest("Send 'previous_response_id' or 'conversation', not both.", "conversation", "invalid_value");
  }
  if (input === undefined && prompt === undefined && previous === undefined && conversation === undefined) {
    const hint = body.messages === undefined ? "" : " 'messages' is the field of POST /v1/chat/completions.";
    throw invalidRequest(`Missing required parameter: 'input'.${hint}`, "input", "missing_required_parameter");
  }
  if (background === true && store === false) {
    throw invalidRequest("A response in the background has to be stored: leave out 'store'.", "store", "invalid_value");
  }
  return body;
}

/** Throws a Fault for fields that need stored responses, where none are stored. */
export function refuseStorage({ previous_response_id, conversation, background }: ResponsesBody): void {
  const state = { previous_response_id, conversation, background: background || undefined };
  const [field] = Object.entries(state).find(([, value]) => value !== undefined) ?? [];
  if (field === undefined) return;
  const instead = field === "background" ? "leave it out" : "send the earlier items in 'input'";
  throw unsupportedValue(`Responses are not stored here, so '${field}' is not supported: ${instead}.`, field);
}

/** Fields of this API that the service reads. */
export const KNOWN_FIELDS: readonly string[] = Object.keys(FIELDS);
