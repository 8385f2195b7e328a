/** POST /v1/chat/completions: validates the body for every model, local or upstream. */

import { z } from "zod";
import { deferField, keepOutline, outlineOf } from "../../../kernel/json/json-outline.ts";
import { keepSource, sourceOf } from "../../../kernel/json/json-source.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { describedBy } from "../../openapi/described-by.ts";
import { named } from "../../openapi/named.ts";
import { otherToolForm } from "../../tool-forms.ts";
import { optional } from "../optional.ts";
import { PromptReference } from "../prompts/prompt-content.ts";
import { sparseSchema } from "../sparse-schema.ts";
import { parse } from "../validate.ts";
import { GuidedJson, ResponseFormat, StructuredOutputs, secondFormat } from "./chat-format.ts";
import { Messages } from "./chat-messages.ts";
import { ChatModeration } from "./chat-moderation.ts";
import { choiceProblem, ToolChoiceField, Tools } from "./chat-tools.ts";
import { Integer, SAMPLING_FIELDS, samplingProblem } from "./sampling-fields.ts";
import { WebSearchOptions } from "./web-search-options.ts";

const PositiveInteger = z.int().min(1);

const FIELDS = {
  model: z.string().min(1),
  messages: Messages,
  stream: optional(z.boolean()),
  stream_options: optional(
    lazy.looseObject(() => ({ include_usage: optional(z.boolean()), include_obfuscation: optional(z.boolean()) })),
  ),
  ...SAMPLING_FIELDS,
  max_tokens: optional(PositiveInteger),
  max_completion_tokens: optional(PositiveInteger),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(Integer(0, 20)),
  // Extensions of vLLM.
  chat_template_kwargs: optional(z.record(z.string(), z.unknown())),
  guided_json: optional(GuidedJson),
  structured_outputs: optional(StructuredOutputs),
  // Extension of Ollama.
  think: optional(z.union([z.boolean(), z.string().min(1)])),
  response_format: optional(ResponseFormat),
  tools: optional(Tools),
  tool_choice: optional(ToolChoiceField),
  parallel_tool_calls: optional(z.boolean()),
  reasoning_effort: optional(z.string().min(1)),
  user: optional(z.string()),
  metadata: optional(z.record(z.string(), z.unknown())),
  store: optional(z.boolean()),
  service_tier: optional(z.string()),
  moderation: optional(ChatModeration),
};

/** A request with a stored prompt may leave out what the prompt has. */
const prompt = optional(PromptReference).describe("Stored prompt, whose messages come first. Not in OpenAI's API.");

/** Schema that keeps unknown fields: an upstream gets them, a local model refuses or ignores them. */
const bodyOf = (fields: typeof FIELDS) =>
  z.looseObject(fields).check(({ value, issues }) => {
    const refuse = (path: string[], input: unknown, message: string) =>
      issues.push({ code: "custom", path, input, message });
    if (value.stream_options !== undefined && value.stream !== true) {
      refuse(["stream_options"], value.stream_options, "it may be set only when 'stream' is true");
    }
    if (value.top_logprobs !== undefined && value.logprobs !== true) {
      refuse(["top_logprobs"], value.top_logprobs, "it may be set only when 'logprobs' is true");
    }
    const problem = samplingProblem(value);
    if (problem !== undefined) refuse(...problem);
    const second = secondFormat(value);
    if (second !== undefined) refuse(second.path, second.input, "another field asks for JSON already");
    if (value.tool_choice === undefined) return;
    const mismatch = choiceProblem(value.tool_choice, value.tools ?? []);
    if (mismatch !== undefined) refuse(["tool_choice", ...mismatch.path], value.tool_choice, mismatch.message);
  });

/** Checked where this service searches. */
const web_search_options = describedBy(z.unknown().optional(), WebSearchOptions);

/** Schema of every field, for the API reference. */
export const ChatBody = named("ChatCompletionBody", bodyOf({ ...FIELDS, prompt, web_search_options } as typeof FIELDS));

export type ChatCompletionBody = z.output<ReturnType<typeof bodyOf>>;

const bodyFor = sparseSchema(FIELDS, ["model", "messages"], bodyOf);

/**
 * Validates the body; that of a large one by its outline, which is valid if and only if the body is. Throws a Fault that
 * names the first invalid field.
 */
export function readChatBody(value: unknown): ChatCompletionBody {
  const outline = outlineOf(Object(value));
  if (outline === undefined) return readComplete(value);
  const checked = bodyFor(outline.fields).safeParse(outline.fields);
  // The error shows what the caller wrote.
  if (!checked.success) return readComplete(value);
  const body = withSource(checked.data, value, outline.fields);
  keepOutline(body, outline);
  deferField(body, "messages", () => (value as ChatCompletionBody).messages);
  return body;
}

function readComplete(value: unknown): ChatCompletionBody {
  const body = parse(bodyFor(value), value, (path) => otherToolForm(value, path, "chat"));
  return withSource(body, value, value as Record<string, unknown>);
}

/** Keeps the bytes of `value` for an upstream, unless the schema has changed its `fields`: it drops null, which some refuse. */
function withSource(body: ChatCompletionBody, value: unknown, fields: Readonly<Record<string, unknown>>) {
  if (isUnchanged(fields)) keepSource(body, sourceOf(value as object));
  return body;
}

/** Fields that the schema or a conversion of the call changes. */
const CHANGED_FIELDS = new Set(["moderation", "guided_json", "structured_outputs", "response_format"]);

function isUnchanged(fields: Readonly<Record<string, unknown>>): boolean {
  if (fields.tool_choice === "any") return false;
  for (const name in fields) if (fields[name] === null || CHANGED_FIELDS.has(name)) return false;
  return true;
}
