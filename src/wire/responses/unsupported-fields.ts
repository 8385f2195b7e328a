/** Finds what only an upstream with the Responses API may support: fields, values of fields and tools. */

import { closest } from "fastest-levenshtein";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import {
  firstRefusedField,
  isMisspelling,
  type UnknownFieldsPolicy,
  type UnsupportedField,
  unknownFieldsOf,
  unknownMembers,
} from "../openai/unknown-fields.ts";
import { fieldsOfUpstreams } from "../upstream-fields.ts";
import type { ResponsesBody } from "./responses-body.ts";
import { firstHostedTool, type HostedToolsPolicy, hostedTools, type ServedTools } from "./responses-tools.ts";
import { TOOL_SEARCH } from "./tool-search.ts";

/** Bookkeeping fields that do not change the answer. */
const WITHOUT_EFFECT = ["client_metadata", "prompt_cache_options", "prompt_cache_retention"];

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const isZero = (value: unknown) => value === 0;
const USE_FORMAT: UnsupportedField = { instead: "send a JSON schema as 'text.format'" };
const USE_CHAT: UnsupportedField = { instead: "POST /v1/chat/completions takes it" };
const USE_TOOLS: UnsupportedField = { isDefault: isEmptyList, instead: "use 'tools'" };

/** Mostly names of chat completions, which have other ones here or none. */
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  messages: { isDefault: isEmptyList, instead: "use 'input', or POST /v1/chat/completions" },
  system: { instead: "use 'instructions'" },
  max_tokens: { instead: "use 'max_output_tokens'" },
  max_completion_tokens: { instead: "use 'max_output_tokens'" },
  response_format: { instead: "use 'text.format'" },
  verbosity: { instead: "use 'text.verbosity'" },
  reasoning_effort: { instead: "use 'reasoning.effort'" },
  logprobs: { isDefault: (value) => value === false, instead: "use 'top_logprobs'" },
  functions: USE_TOOLS,
  function_call: { isDefault: (value) => value === "none", instead: "use 'tool_choice'" },
  web_search_options: { instead: "no model here searches the web" },
  n: { isDefault: (value) => value === 1, instead: "send the request several times, or POST /v1/chat/completions" },
  stop: { isDefault: isEmptyList, ...USE_CHAT },
  seed: USE_CHAT,
  logit_bias: USE_CHAT,
  // Sampling of vLLM and llama-server.
  top_k: { isDefault: (value) => value === -1 || value === 0, ...USE_CHAT },
  min_p: { isDefault: isZero, ...USE_CHAT },
  min_tokens: { isDefault: isZero, ...USE_CHAT },
  repeat_penalty: { isDefault: (value) => value === 1, ...USE_CHAT },
  repetition_penalty: { isDefault: (value) => value === 1, ...USE_CHAT },
  chat_template_kwargs: USE_CHAT,
  // Schemas in the formats of vLLM, llama-server and Ollama.
  format: USE_FORMAT,
  grammar: USE_FORMAT,
  json_schema: USE_FORMAT,
  guided_json: USE_FORMAT,
  guided_regex: USE_FORMAT,
  guided_choice: USE_FORMAT,
  guided_grammar: USE_FORMAT,
  structured_outputs: USE_FORMAT,
  modalities: { isDefault: (value) => JSON.stringify(value) === '["text"]', instead: "it answers with text" },
  audio: { instead: "it answers with text" },
};

/** Values of `include` that are honored, or whose content responses always have. */
const INCLUDES: readonly string[] = [
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "message.input_image.image_url",
];

/** Returns the Fault for the first part of the request that no typed answer honors; undefined without one. */
export function firstUnsupported(
  body: ResponsesBody,
  known: readonly string[],
  policy: UnknownFieldsPolicy,
  hosted: HostedToolsPolicy,
  served?: ServedTools,
) {
  const rules = { known: [...known, ...WITHOUT_EFFECT], unsupported: UNSUPPORTED, policy };
  return (
    firstRefusedField(body, rules) ??
    firstHostedTool(body.tools ?? [], hosted, served) ??
    unsupportedInclude(body, served)
  );
}

const REASONING_FIELDS = ["effort", "summary", "generate_summary"];
const FUNCTION_FIELDS = ["type", "name", "description", "parameters", "strict"];

/** `type`: that of messages. */
const MESSAGE_FIELDS = ["type", "role", "content", "id", "status", "name"];

function messagesOf({ input }: ResponsesBody): readonly object[] {
  return Array.isArray(input) ? input.filter(({ type = "message" }) => type === "message") : [];
}

function functionsOf({ tools = [] }: ResponsesBody): readonly object[] {
  return tools.filter(({ type }) => type === "function");
}

/** Whether something can load deferred tools. */
function searches({ tools = [] }: ResponsesBody): boolean {
  return tools.some(({ type }) => type === TOOL_SEARCH);
}

/** Returns the paths of fields without effect. `isLocal`: whether the model is not an upstream's. */
export function ignoredFields(
  body: ResponsesBody,
  known: readonly string[],
  isLocal: boolean,
  served?: ServedTools,
): string[] {
  const { verbosity = "medium" } = body.text ?? {};
  return [
    ...unknownFieldsOf(body, [...known, ...WITHOUT_EFFECT, ...Object.keys(UNSUPPORTED)]),
    ...unknownMembers([body.reasoning ?? {}], "reasoning", REASONING_FIELDS),
    ...unknownMembers(
      functionsOf(body),
      "tools[]",
      searches(body) ? [...FUNCTION_FIELDS, "defer_loading"] : FUNCTION_FIELDS,
    ),
    ...unknownMembers(messagesOf(body), "input[]", MESSAGE_FIELDS),
    ...(isLocal ? fieldsOfUpstreams(body) : fieldsOfUpstreams({ stream_options: body.stream_options })),
    ...hostedTools(body.tools ?? [], served),
    ...(isLocal && verbosity !== "medium" ? ["text.verbosity"] : []),
  ];
}

function unsupportedInclude({ include = [] }: ResponsesBody, served?: ServedTools): Fault | undefined {
  const includes = [...INCLUDES, ...(served?.includes ?? [])];
  const index = include.findIndex((each) => !includes.includes(each));
  const name = include[index];
  if (name === undefined) return undefined;
  const meant = name.length > 100 ? undefined : closest(name, includes);
  const wayOut =
    meant !== undefined && isMisspelling(name, meant)
      ? `Did you mean '${meant}'?`
      : "It belongs to a tool that is not there: leave it out.";
  const path = `include[${index}]`;
  return unsupportedValue(`This model does not support '${name.slice(0, 100)}' in 'include'. ${wayOut}`, path);
}
