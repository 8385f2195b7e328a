/** Records the messages of a chat for its span. */

import type { TextDelta } from "../contracts/answer-text.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatMessage, FinishReason, RawPrompt } from "../contracts/chat-model.ts";
import { filesIn, imagesIn, messageText } from "../engines/shared/message-text.ts";
import type { ChatContent, ContentMessage, ContentPart } from "../observability/chat-content.ts";
import type { ChatRunEvent } from "./chat-call.ts";

/** In UTF-16 code units; above what a span may contain. */
const MAX_LENGTH = 1024 * 1024;

interface Choice {
  parts: Map<string, ContentPart>;
  reason: FinishReason | undefined;
}

/** Reads typed events, and forwarded answers in formats whose text moderation can read. */
export class ContentRecorder {
  readonly #call: ChatCall;
  readonly #choices = new Map<number, Choice>();
  #length = 0;

  constructor(call: ChatCall) {
    this.#call = call;
  }

  add(event: ChatRunEvent): void {
    switch (event.type) {
      case "text":
      case "reasoning":
        this.#append(event.choice, event.type, event.text, { type: event.type, content: "" });
        break;
      case "tool-call":
        this.#append(event.choice, `${event.index}`, "", { ...callOf(event), arguments: "" });
        break;
      case "tool-arguments":
        this.#append(event.choice, `${event.index}`, event.text, { type: "tool_call", arguments: "" });
        break;
      case "choice-end":
        this.#choiceOf(event.choice).reason = event.reason;
        break;
      case "start":
      case "echo":
        break;
      default:
        if (this.#length < MAX_LENGTH) this.#addDeltas(this.#call.passThrough?.answerText?.textsOf(event));
    }
  }

  content(): ChatContent {
    const { request, prompts = [] } = this.#call;
    return {
      inputMessages: [...prompts.map(promptMessage), ...request.messages.map(toMessage)],
      outputMessages: [...this.#choices.values()].map(({ parts, reason }) => ({
        role: "assistant",
        parts: [...parts.values()],
        finish_reason: reason,
      })),
    };
  }

  /** Tool calls of forwarded answers have no names: moderation reads only what the model wrote. */
  #addDeltas(deltas: readonly TextDelta[] = []): void {
    for (const { choice, part, text } of deltas) {
      const isCall = part.endsWith(".arguments");
      const type = part.includes("reasoning") ? "reasoning" : "text";
      this.#append(choice, part, text, isCall ? { type: "tool_call", arguments: "" } : { type, content: "" });
    }
  }

  #append(choice: number, key: string, text: string, empty: ContentPart): void {
    const { parts } = this.#choiceOf(choice);
    const part = parts.get(key) ?? empty;
    const piece = text.slice(0, MAX_LENGTH - this.#length);
    this.#length += piece.length;
    if (part.type === "tool_call") part.arguments += piece;
    else if (part.type === "text" || part.type === "reasoning") part.content += piece;
    parts.set(key, part);
  }

  #choiceOf(choice: number): Choice {
    const recording = this.#choices.get(choice);
    if (recording !== undefined) return recording;
    const created = { parts: new Map(), reason: undefined };
    this.#choices.set(choice, created);
    return created;
  }
}

function callOf({ id, name }: { id: string; name: string }): { type: "tool_call"; id: string; name: string } {
  return { type: "tool_call", id, name };
}

function promptMessage({ input }: RawPrompt): ContentMessage {
  const content = typeof input === "string" ? input : `[${input.length} token IDs]`;
  return { role: "user", parts: [{ type: "text", content }] };
}

function toMessage(message: ChatMessage): ContentMessage {
  const { role, name, toolCalls = [], toolCallId } = message;
  const text = messageText(message);
  if (role === "tool") return { role, name, parts: [{ type: "tool_call_response", id: toolCallId, response: text }] };
  const images = imagesIn(message).map(({ url }): ContentPart => {
    return url.startsWith("data:") ? { type: "blob", modality: "image" } : { type: "uri", modality: "image", uri: url };
  });
  return {
    role,
    name,
    parts: [
      ...filesIn(message).map((): ContentPart => ({ type: "blob", modality: "file" })),
      ...(text === "" ? [] : [{ type: "text", content: text } as const]),
      ...images,
      ...toolCalls.map((call) => ({ ...callOf(call), arguments: call.arguments })),
    ],
  };
}
