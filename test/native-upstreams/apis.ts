/** The chat APIs through their official clients, in one shape: what a test asks for, and what comes back. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import type { Service } from "../support/service/service.ts";
import { pdf } from "../support/vector-stores/sample-documents.ts";
import { generateContent } from "./gemini-api.ts";

export interface Wish {
  say?: string;
  system?: string;
  /** Marks the system prompt for caching. */
  marked?: boolean;
  image?: string;
  pdf?: string;
  tools?: boolean;
  toolChoice?: "required" | "get_weather" | "none";
  isSequential?: boolean;
  schema?: Record<string, unknown>;
  effort?: string;
  stream?: boolean;
  maxTokens?: number;
  /** An earlier answer, whose calls have got these results. */
  after?: { answer: ApiAnswer; results: readonly string[] };
}

interface ApiAnswer {
  text: string;
  reasoning: string;
  refusal: string;
  calls: { id: string; name: string; arguments: unknown }[];
  /** In the API's own words. */
  reason: string;
  usage: { input: number; cached: number; written: number; output: number };
  /** What a client sends again in the next turn. */
  turn: unknown;
}

export interface Api {
  name: string;
  /** What the API does not have, of what a test asks for or reads. */
  lacks?: readonly ("marked" | "isSequential" | "written")[];
  reasons: Record<"stop" | "length" | "calls" | "refused", string>;
  ask(service: Service, model: string, wish: Wish): Promise<ApiAnswer>;
}

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
export const PDF = pdf("Tides follow the moon.").toString("base64");
export const WEATHER = {
  name: "get_weather",
  description: "Weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
export const SAY = "How is the weather?";

const chat: Api = {
  name: "chat completions",
  reasons: { stop: "stop", length: "length", calls: "tool_calls", refused: "content_filter" },
  async ask(service, model, wish) {
    const { say = SAY, system, marked, image, pdf, tools, toolChoice, isSequential, schema, effort, after } = wish;
    const parts = [
      ...(image === undefined ? [] : [{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }]),
      ...(pdf === undefined
        ? []
        : [{ type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } }]),
      { type: "text", text: say },
    ];
    const instruction = { type: "text", text: system, ...(marked && { cache_control: { type: "ephemeral" } }) };
    const messages = [
      ...(system === undefined ? [] : [{ role: "system", content: [instruction] }]),
      { role: "user", content: parts },
      ...(after === undefined ? [] : [after.answer.turn as object]),
      ...(after?.results ?? []).map((content, index) => ({
        role: "tool",
        tool_call_id: after?.answer.calls[index]?.id,
        content,
      })),
    ];
    const body = {
      model,
      messages,
      ...(wish.maxTokens !== undefined && { max_completion_tokens: wish.maxTokens }),
      ...(tools && { tools: [{ type: "function", function: WEATHER }] }),
      ...(toolChoice !== undefined && { tool_choice: toChatChoice(toolChoice) }),
      ...(isSequential && { parallel_tool_calls: false }),
      ...(schema && {
        response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
      }),
      ...(effort !== undefined && { reasoning_effort: effort }),
    } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const { completions } = service.client({ maxRetries: 0 }).chat;
    const completion = wish.stream
      ? await completions
          .stream({ ...body, stream: true, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await completions.create(body);
    const [choice] = completion.choices;
    const message = choice?.message as OpenAI.ChatCompletionMessage & { reasoning_content?: string };
    const details = completion.usage?.prompt_tokens_details as Record<string, number> | undefined;
    return {
      text: message.content ?? "",
      reasoning: message.reasoning_content ?? "",
      refusal: message.refusal ?? "",
      calls: (message.tool_calls ?? []).map((call) => {
        if (call.type !== "function") throw new Error("not a function");
        return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) };
      }),
      reason: String(choice?.finish_reason),
      usage: {
        input: completion.usage?.prompt_tokens ?? -1,
        cached: details?.cached_tokens ?? 0,
        written: details?.cache_write_tokens ?? 0,
        output: completion.usage?.completion_tokens ?? -1,
      },
      turn: message,
    };
  },
};

function toChatChoice(choice: NonNullable<Wish["toolChoice"]>): unknown {
  return choice === "get_weather" ? { type: "function", function: { name: choice } } : choice;
}

const responses: Api = {
  name: "Responses",
  reasons: {
    stop: "completed",
    length: "max_output_tokens",
    calls: "completed",
    refused: "content_filter",
  },
  async ask(service, model, wish) {
    const { say = SAY, system, marked, image, pdf, tools, toolChoice, isSequential, schema, effort, after } = wish;
    const content = [
      ...(image === undefined ? [] : [{ type: "input_image", image_url: `data:image/png;base64,${image}` }]),
      ...(pdf === undefined
        ? []
        : [{ type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` }]),
      { type: "input_text", text: say },
    ];
    const instruction = { type: "input_text", text: system, ...(marked && { cache_control: { type: "ephemeral" } }) };
    const input = [
      ...(system === undefined ? [] : [{ role: "system", content: [instruction] }]),
      { role: "user", content },
      ...((after?.answer.turn ?? []) as object[]),
      ...(after?.results ?? []).map((output, index) => ({
        type: "function_call_output",
        call_id: after?.answer.calls[index]?.id,
        output,
      })),
    ];
    const body = {
      model,
      input,
      store: false,
      ...(wish.maxTokens !== undefined && { max_output_tokens: wish.maxTokens }),
      ...(tools && { tools: [{ type: "function", strict: true, ...WEATHER }] }),
      ...(toolChoice !== undefined && {
        tool_choice: toolChoice === "get_weather" ? { type: "function", name: toolChoice } : toolChoice,
      }),
      ...(isSequential && { parallel_tool_calls: false }),
      ...(schema && { text: { format: { type: "json_schema", name: "answer", strict: true, schema } } }),
      ...(effort !== undefined && { reasoning: { effort } }),
    } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const client = service.client({ maxRetries: 0 }).responses;
    const response = wish.stream
      ? await client.stream({ ...body, stream: true }).finalResponse()
      : await client.create(body);
    const parts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
    const calls = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    const thoughts = response.output.flatMap((item) => (item.type === "reasoning" ? [item] : []));
    const { usage } = response;
    const details = usage?.input_tokens_details as Record<string, number> | undefined;
    return {
      text: parts.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
      reasoning: thoughts.flatMap((item) => (item.content ?? []).map(({ text }) => text)).join(""),
      refusal: parts.map((part) => (part.type === "refusal" ? part.refusal : "")).join(""),
      calls: calls.map((call) => ({ id: call.call_id, name: call.name, arguments: JSON.parse(call.arguments) })),
      reason: response.incomplete_details?.reason ?? String(response.status),
      usage: {
        input: usage?.input_tokens ?? -1,
        cached: details?.cached_tokens ?? 0,
        written: details?.cache_write_tokens ?? 0,
        output: usage?.output_tokens ?? -1,
      },
      turn: response.output,
    };
  },
};

const messages: Api = {
  name: "Messages",
  reasons: { stop: "end_turn", length: "max_tokens", calls: "tool_use", refused: "refusal" },
  async ask(service, model, wish) {
    const { say = SAY, system, marked, image, pdf, tools, toolChoice, isSequential, schema, effort, after } = wish;
    const content = [
      ...(image === undefined
        ? []
        : [{ type: "image", source: { type: "base64", media_type: "image/png", data: image } }]),
      ...(pdf === undefined
        ? []
        : [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } }]),
      { type: "text", text: say },
    ];
    const instruction = { type: "text", text: system, ...(marked && { cache_control: { type: "ephemeral" } }) };
    const results = (after?.results ?? []).map((result, index) => ({
      type: "tool_result",
      tool_use_id: after?.answer.calls[index]?.id,
      content: result,
    }));
    const { description, name, parameters } = WEATHER;
    const turns = [
      { role: "user", content },
      ...(after === undefined
        ? []
        : [
            { role: "assistant", content: after.answer.turn },
            { role: "user", content: results },
          ]),
    ];
    const body = {
      model,
      max_tokens: wish.maxTokens ?? 4000,
      messages: turns,
      ...(system !== undefined && { system: [instruction] }),
      ...(tools && { tools: [{ name, description, input_schema: parameters }] }),
      ...((toolChoice !== undefined || isSequential) && {
        tool_choice: { ...toMessagesChoice(toolChoice), ...(isSequential && { disable_parallel_tool_use: true }) },
      }),
      ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
      ...(effort !== undefined && { thinking: { type: "enabled", budget_tokens: 2048 } }),
    } as unknown as Anthropic.MessageCreateParamsNonStreaming;
    const client = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
    const message = wish.stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    const { usage } = message;
    const cached = usage.cache_read_input_tokens ?? 0;
    const written = usage.cache_creation_input_tokens ?? 0;
    return {
      text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      reasoning: message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      refusal: "",
      calls: message.content.flatMap((block) =>
        block.type === "tool_use" ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
      ),
      reason: String(message.stop_reason),
      usage: { input: usage.input_tokens + cached + written, cached, written, output: usage.output_tokens },
      turn: message.content,
    };
  },
};

function toMessagesChoice(choice: Wish["toolChoice"]): object {
  if (choice === "get_weather") return { type: "tool", name: choice };
  return { type: choice === "required" ? "any" : (choice ?? "auto") };
}

export const APIS: readonly Api[] = [chat, responses, messages, generateContent];
