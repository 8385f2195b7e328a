/** Writes a typed chat request as the body of Mistral's POST /v1/chat/completions. */

import { createHash } from "node:crypto";
import type { ChatMessage, ContentPart, ReasoningBlock } from "../../contracts/chat-message.ts";
import type { ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { inlineData } from "../native-upstream/content-urls.ts";
import { ownSignature } from "../native-upstream/signatures.ts";
import { toChatBody, toCompletionBody, toTool } from "../openai-compatible/chat/chat-body.ts";
import type { MistralSettings } from "./settings.ts";

export const MISTRAL = "mistral";

/** Throws a Fault that names what the API does not have. */
export function toMistralBody(
  request: ChatRequest,
  model: string,
  { safePrompt }: Pick<MistralSettings, "safePrompt">,
): Record<string, unknown> {
  const { seed, tool_choice, tools: _tools, messages: _messages, ...fields } = toChatBody(request);
  const { tools } = request;
  return {
    model,
    ...fields,
    messages: toMessages(request),
    ...(seed !== undefined && { random_seed: seed }),
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      tool_choice: tool_choice === "required" ? "any" : tool_choice,
    }),
    ...(safePrompt && { safe_prompt: true }),
  };
}

/** A last message that the answer continues is marked. */
function toMessages({ messages, continuation }: ChatRequest): Record<string, unknown>[] {
  const written = messages.map(toMessage);
  const last = written.at(-1);
  if (continuation !== undefined && last !== undefined) last.prefix = true;
  return written;
}

/** Writes a prompt without a template as the body of POST /v1/fim/completions. Throws a Fault. */
export function toFimBody(request: ChatRequest, prompt: RawPrompt, model: string): Record<string, unknown> {
  if (typeof prompt.input !== "string") throw unsupportedValue("Mistral's API reads texts, not token IDs.", "prompt");
  if (prompt.echo === true) throw unsupportedValue("Mistral's API does not repeat the prompt.", "echo");
  const { seed, ...fields } = toCompletionBody(request, prompt);
  return { model, ...fields, ...(seed !== undefined && { random_seed: seed }) };
}

function toMessage(message: ChatMessage): Record<string, unknown> {
  const { role, content, toolCalls = [], toolCallId, name } = message;
  const parts = typeof content === "string" ? content : content.map(toPart);
  switch (role) {
    case "assistant": {
      const reasoning = (message.reasoning ?? []).flatMap(toThinking);
      const calls = toolCalls.map(({ id, name: called, arguments: written }) => {
        return { id: toCallId(id), type: "function", function: { name: called, arguments: written } };
      });
      const texts = typeof parts === "string" ? toText(parts) : parts;
      return {
        role,
        content: reasoning.length > 0 ? [...reasoning, ...texts] : parts,
        ...(calls.length > 0 && { tool_calls: calls }),
      };
    }
    case "tool":
      return { role, content: parts, tool_call_id: toCallId(toolCallId ?? ""), ...(name !== undefined && { name }) };
    default:
      return { role: role === "developer" ? "system" : role, content: parts };
  }
}

function toText(text: string): object[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Returns nothing for reasoning of another provider. */
function toThinking({ text, signature }: ReasoningBlock): object[] {
  const mark = ownSignature(signature, MISTRAL);
  if (mark === undefined) return [];
  return [{ type: "thinking", thinking: toText(text), ...(mark !== "" && { signature: mark }), closed: true }];
}

function toPart(part: ContentPart): object {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image") return { type: "image_url", image_url: part.url };
  const inline = inlineData(part.url);
  if (inline !== undefined && inline.mediaType !== "application/pdf") {
    throw unsupportedValue(`Mistral's API reads PDF, not files of the type ${inline.mediaType}.`, part.param);
  }
  return { type: "document_url", document_url: part.url, ...(part.name !== undefined && { document_name: part.name }) };
}

const CALL_ID = /^[a-zA-Z0-9]{9}$/;

/** The API takes IDs of nine letters and digits only; other providers' IDs become such ones, the same each time. */
function toCallId(id: string): string {
  if (CALL_ID.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}
