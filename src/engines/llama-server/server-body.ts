/**
 * Converts a chat request to llama-server's body. Sends every known field explicitly and no others, because
 * llama-server has other defaults and ignores unknown fields silently.
 */

import { anyObjectGrammar } from "@parlance-inference/json-schema-grammar/grammar";
import { toLlamaSeed, toLlamaTopK } from "@parlance-inference/llama-batching/llama-sampling";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { AnswerFormat, ChatRequest, RawPrompt, Tool } from "../../contracts/chat-model.ts";
import { imagesIn } from "../../contracts/message-text.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { toMessage, toTool } from "../openai-compatible/chat/chat-body.ts";
import type { ServerProperties } from "./server-properties.ts";

/** `request` includes its grammars. Throws a Fault that names a field that llama-server would not honor. */
export function toServerBody(request: ChatRequest, properties: ServerProperties): Record<string, unknown> {
  refuseUnknownTokens(request.logitBias, properties.vocabularySize);
  const { seed, prompt } = request;
  return {
    ...(prompt === undefined
      ? { messages: request.messages.map(toServerMessage) }
      : { prompt: toServerPrompt(prompt) }),
    stream: true,
    // llama-server parses 32-bit integers: larger values would overflow.
    max_tokens: Math.min(request.maxTokens ?? -1, 2 ** 31 - 1),
    temperature: request.temperature,
    top_p: request.topP,
    top_k: toLlamaTopK(request.topK),
    min_p: request.minP ?? 0,
    seed: toLlamaSeed(seed),
    // A prefix evaluated in other batches rounds differently, which may change the text.
    cache_prompt: seed === undefined,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    repeat_penalty: request.repeatPenalty,
    ...(request.repeatLastN === undefined ? {} : { repeat_last_n: request.repeatLastN }),
    logit_bias: request.logitBias,
    stop: request.stop,
    n: request.choices,
    ...logprobs(request),
    ...(prompt === undefined ? templateVariables(request) : {}),
    ...tools(request),
    ...grammar(request.format, request.tools),
  };
}

function refuseUnknownTokens(bias: ChatRequest["logitBias"], vocabularySize: number | undefined): void {
  if (vocabularySize === undefined) return;
  const unknown = Object.keys(bias).find((token) => Number(token) >= vocabularySize);
  if (unknown === undefined) return;
  const bounds = `this model's tokens are 0 to ${vocabularySize - 1}`;
  throw invalidRequest(`logit_bias names the token ${unknown}, but ${bounds}.`, "logit_bias", "invalid_value");
}

function toServerMessage(message: ChatMessage): Record<string, unknown> {
  for (const { url, param } of imagesIn(message)) {
    // llama-server would fetch any URL, including ones on the local network (SSRF).
    if (!url.startsWith("data:")) {
      throw unsupportedValue("A local model fetches no images: send the image itself, as a data: URL.", param.url);
    }
  }
  return toMessage({ ...message, role: message.role === "developer" ? "system" : message.role });
}

function toServerPrompt({ input, echo }: RawPrompt): RawPrompt["input"] {
  if (echo !== true) return input;
  throw unsupportedValue("This model's engine, llama-server, does not echo prompts. Leave out `echo`.", "echo");
}

function logprobs({ prompt, topLogprobs }: ChatRequest): Record<string, unknown> {
  if (topLogprobs === undefined) return {};
  return prompt === undefined ? { logprobs: true, top_logprobs: topLogprobs } : { logprobs: topLogprobs };
}

function templateVariables(request: ChatRequest): Record<string, unknown> {
  const variables = { ...request.templateVariables, ...reasoning(request) };
  return Object.keys(variables).length === 0 ? {} : { chat_template_kwargs: variables };
}

function reasoning({ reasoningEffort, format }: ChatRequest): Record<string, unknown> {
  // A grammar constrains the output from the first token on, which leaves no room for reasoning.
  if (format.type !== "text" || reasoningEffort === "none") return { enable_thinking: false };
  if (reasoningEffort === undefined) return {};
  return { enable_thinking: true, reasoning_effort: reasoningEffort };
}

function tools({ tools: offered, toolChoice, parallelToolCalls }: ChatRequest): Record<string, unknown> {
  if (offered.length === 0 || toolChoice === "none") return {};
  // llama-server does not support named choices. A single required tool is equivalent.
  const toolName = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const sent = toolName === undefined ? offered : offered.filter(({ name }) => name === toolName);
  return {
    tools: sent.map(toServerTool),
    tool_choice: toolName === undefined ? toolChoice : "required",
    parallel_tool_calls: parallelToolCalls && toolName === undefined,
  };
}

function toServerTool({ description, parameters, ...tool }: Tool): object {
  const empty = { type: "object", properties: {}, additionalProperties: false };
  return toTool({ ...tool, description: description ?? "", parameters: parameters ?? empty });
}

/** Sends Parlance's grammar rather than the schema: llama-server drops unknown keywords. */
function grammar(format: AnswerFormat, offered: readonly Tool[]): { grammar?: string } {
  if (format.type === "text") return {};
  if (offered.length > 0) throw formatBesideTools();
  if (format.type === "json") return { grammar: anyObjectGrammar() };
  if (format.grammar === undefined) throw new Error("The schema is not compiled");
  return { grammar: `root ::= ${format.grammar.ruleName}\n${format.grammar.rules}` };
}

function formatBesideTools(): Fault {
  const message = "This model cannot enforce a response format and tool schemas in one request. Leave out one of them.";
  return unsupportedValue(message, "response_format");
}
