/** Recorded content as messages of chat completions. */

import type { ContentMessage, ContentPart } from "../../../contracts/chat-content.ts";

type Fields = Record<string, unknown>;

const joined = (parts: readonly ContentPart[], type: ContentPart["type"]) =>
  parts.flatMap((part) => (part.type === type && "content" in part ? [part.content] : [])).join("");

/** Renders a message; parts without content, such as images of the request, are left out. */
export function toChatMessage({ role, name, parts }: ContentMessage): Fields {
  const response = parts.find((part) => part.type === "tool_call_response");
  if (response !== undefined) return { role: "tool", tool_call_id: response.id, content: response.response };
  const text = joined(parts, "text");
  const calls = parts.flatMap((part) => (part.type === "tool_call" ? [toCall(part)] : []));
  const images = parts.flatMap((part) => (part.type === "uri" && part.modality === "image" ? [part.uri] : []));
  const hasNoText = text === "" && (calls.length > 0 || role === "assistant");
  const content =
    images.length === 0
      ? hasNoText
        ? null
        : text
      : [{ type: "text", text }, ...images.map((url) => ({ type: "image_url", image_url: { url } }))];
  return { role, ...(name !== undefined && { name }), content, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Renders the choices of a completion. */
export function toChoices(messages: readonly ContentMessage[]) {
  return messages.map((message, index) => {
    const { parts, finish_reason = "stop" } = message;
    const reasoning = joined(parts, "reasoning");
    const refusal = joined(parts, "refusal");
    return {
      index,
      message: {
        ...toChatMessage(message),
        role: "assistant" as const,
        content: answerText(parts),
        ...(reasoning !== "" && { reasoning_content: reasoning, reasoning }),
        refusal: refusal === "" ? null : refusal,
      },
      logprobs: null,
      finish_reason,
    };
  });
}

/** Null for an answer of calls or a refusal only. */
function answerText(parts: readonly ContentPart[]): string | null {
  const text = joined(parts, "text");
  const isEmpty = text === "" && parts.some(({ type }) => type === "tool_call" || type === "refusal");
  return isEmpty ? null : text;
}

function toCall({ id, name, arguments: json }: Extract<ContentPart, { type: "tool_call" }>): Fields {
  return { id, type: "function", function: { name, arguments: json } };
}
