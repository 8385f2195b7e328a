/** Treatment of each field of a chat request by local models. */

import type { UnsupportedField } from "../unknown-fields.ts";

/** Fields that the engine supports, that the service honors itself, or that do not change the answer. */
export const KNOWN_FIELDS: readonly string[] = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "n",
  "frequency_penalty",
  "presence_penalty",
  "repeat_penalty",
  "repetition_penalty",
  "repeat_last_n",
  "min_tokens",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "response_format",
  "guided_json",
  "structured_outputs",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning_effort",
  "think",
  "chat_template_kwargs",
  "moderation",
  "user",
  "metadata",
  "store",
  "service_tier",
  "prediction",
  "cache_prompt",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "continue_final_message",
  "add_generation_prompt",
];

/** Known fields without effect: reported as ignored and accepted under every policy. */
export const FIELDS_WITHOUT_EFFECT: readonly string[] = ["num_ctx", "keep_alive", "verbosity"];

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const USE_SCHEMA: UnsupportedField = { instead: "send a JSON schema as 'response_format'" };
const USE_MESSAGES: UnsupportedField = { instead: "send it as a message" };

export const UNSUPPORTED_FIELDS: Readonly<Record<string, UnsupportedField>> = {
  functions: { isDefault: isEmptyList, instead: "'tools' has taken its place" },
  function_call: { isDefault: (value) => value === "none", instead: "'tool_choice' has taken its place" },
  modalities: { isDefault: (value) => JSON.stringify(value) === '["text"]', instead: "it answers with text" },
  audio: { instead: "it answers with text" },
  web_search_options: { instead: "the operator's setting web_search names a search engine" },
  // Schemas and grammars in the formats of vLLM, llama-server and Ollama.
  format: USE_SCHEMA,
  grammar: USE_SCHEMA,
  json_schema: USE_SCHEMA,
  guided_regex: USE_SCHEMA,
  guided_choice: USE_SCHEMA,
  guided_grammar: USE_SCHEMA,
  allowed_token_ids: { isDefault: isEmptyList, instead: "'logit_bias' changes what is sampled" },
  bad_words: { isDefault: isEmptyList, instead: "'logit_bias' changes what is sampled" },
  // Input outside the messages.
  prompt: USE_MESSAGES,
  system: USE_MESSAGES,
  images: { isDefault: isEmptyList, instead: "send them as parts of a message" },
  files: { isDefault: isEmptyList, ...USE_MESSAGES },
  documents: { isDefault: isEmptyList, ...USE_MESSAGES },
};

/** Fields of a message that are read, or that clients copy from an answer; `*`: for every role. */
export const MESSAGE_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  "*": new Set(["role", "content", "name"]),
  assistant: new Set([
    "tool_calls",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking_blocks",
    "parsed",
    "refusal",
    "annotations",
    "prefix",
    "partial",
  ]),
  tool: new Set(["tool_call_id"]),
};

/** Fields of a message that would change the answer and that no local model supports. */
export const UNSUPPORTED_MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "audio",
  "function_call",
  "images",
  "prefix",
  "partial",
]);
