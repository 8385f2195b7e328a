/**
 * A chat request as llama-server reads it. Only fields that Parlance knows are sent, each said out loud, because
 * llama-server has defaults of its own and skips what it does not know without a word.
 */

import { anyObjectGrammar, compileGrammar } from "@parlance-inference/json-schema-grammar/grammar";
import { toLlamaSeed, toLlamaTopK } from "@parlance-inference/llama-batching/llama-sampling";
import { type Fault, invalidRequest, unsupportedValue } from "../../faults.ts";
import type { AnswerFormat, ChatRequest, Tool } from "../chat-model.ts";
import { withSchemaFaults } from "../schema-fault.ts";
import type { ServerProperties } from "./server-properties.ts";

/** Throws a Fault that names the field when llama-server would not honour all of the request. */
export function toServerBody(request: ChatRequest, properties: ServerProperties): Record<string, unknown> {
  refuseUnknownTokens(request.logitBias, properties.vocabularySize);
  const { seed } = request;
  return {
    messages: toServerMessages(request),
    stream: request.stream,
    // It reads 32 bits: more would come out as few.
    max_tokens: Math.min(request.maxTokens ?? -1, 2 ** 31 - 1),
    temperature: request.temperature,
    top_p: request.topP,
    top_k: toLlamaTopK(request.topK),
    min_p: request.minP ?? 0,
    seed: toLlamaSeed(seed),
    // What is evaluated in other batches rounds otherwise, and the text may come out another.
    cache_prompt: seed === undefined,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    repeat_penalty: request.repeatPenalty,
    logit_bias: request.logitBias,
    stop: request.stop,
    n: request.choices,
    ...(request.topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: request.topLogprobs }),
    ...reasoning(request),
    ...tools(request),
    ...grammar(request.format, request.tools),
  };
}

function refuseUnknownTokens(bias: ChatRequest["logitBias"], vocabularySize: number | undefined): void {
  if (vocabularySize === undefined) return;
  const unknown = Object.keys(bias).find((token) => Number(token) >= vocabularySize);
  if (unknown === undefined) return;
  const known = `this model's tokens are 0 to ${vocabularySize - 1}`;
  throw invalidRequest(`logit_bias names the token ${unknown}, but ${known}.`, "logit_bias", "invalid_value");
}

type Parts = ReadonlyArray<{ type?: unknown; image_url?: { url?: unknown } | string }>;

/** With the roles and contents as the caller sent them, since they may hold images. */
function toServerMessages({ wire, messages }: ChatRequest): unknown[] {
  const sent = Array.isArray(wire.messages) ? (wire.messages as Record<string, unknown>[]) : messages;
  return sent.map((message, index) => {
    const { role, content } = message as { role: string; content?: unknown };
    if (Array.isArray(content)) refuseImageAddresses(content, `messages[${index}].content`);
    return { ...message, ...toServerCalls(message), role: role === "developer" ? "system" : role };
  });
}

/** It fails where a call's arguments are no JSON, also for those that say nothing because there are none. */
function toServerCalls(message: object): { tool_calls?: unknown[] } {
  const { tool_calls: calls } = message as { tool_calls?: { function?: { arguments?: unknown } }[] | null };
  if (!calls?.length) return {};
  return {
    tool_calls: calls.map((call) =>
      call.function?.arguments === "" ? { ...call, function: { ...call.function, arguments: "{}" } } : call,
    ),
  };
}

/** llama-server would fetch them from wherever they point to, this machine's own network included. */
function refuseImageAddresses(parts: Parts, path: string): void {
  for (const [index, part] of parts.entries()) {
    if (part.type !== "image_url") continue;
    const url = typeof part.image_url === "object" ? part.image_url?.url : part.image_url;
    if (typeof url === "string" && url.startsWith("data:")) continue;
    throw unsupportedValue(
      "A local model fetches no images: send the image itself, as a data: URL.",
      `${path}[${index}].image_url.url`,
    );
  }
}

function reasoning({ reasoningEffort, format }: ChatRequest): Record<string, unknown> {
  // A grammar holds from the first token on, so what is to be JSON leaves no room to think aloud.
  if (format.type !== "text" || reasoningEffort === "none") return { chat_template_kwargs: { enable_thinking: false } };
  if (reasoningEffort === undefined) return {};
  return { chat_template_kwargs: { enable_thinking: true, reasoning_effort: reasoningEffort } };
}

function tools({ tools: offered, toolChoice, parallelToolCalls }: ChatRequest): Record<string, unknown> {
  if (offered.length === 0 || toolChoice === "none") return {};
  for (const { parameters, param } of offered)
    if (parameters !== undefined) withSchemaFaults(() => compileGrammar(parameters, param));
  // Named choices are unknown to it: the one tool, required, is the same.
  const named = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const sent = named === undefined ? offered : offered.filter(({ name }) => name === named);
  return {
    tools: sent.map(toServerTool),
    tool_choice: named === undefined ? toolChoice : "required",
    parallel_tool_calls: parallelToolCalls && named === undefined,
  };
}

function toServerTool({ name, description, parameters }: Tool): object {
  const empty = { type: "object", properties: {}, additionalProperties: false };
  return { type: "function", function: { name, description: description ?? "", parameters: parameters ?? empty } };
}

/** A grammar of our own rather than the schema: llama-server drops keywords that it does not know. */
function grammar(format: AnswerFormat, offered: readonly Tool[]): { grammar?: string } {
  if (format.type === "text") return {};
  if (offered.length > 0) throw formatBesideTools();
  if (format.type === "json") return { grammar: anyObjectGrammar() };
  return { grammar: withSchemaFaults(() => compileGrammar(format.schema, format.param)) };
}

function formatBesideTools(): Fault {
  const message = "This model cannot have its answer's format and its calls of tools constrained at once.";
  return unsupportedValue(message, "response_format");
}
