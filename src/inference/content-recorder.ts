/** Records the messages of a chat: for its span, and for what its project records. */

import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatContent, ContentMessage, ContentPart } from "../contracts/chat-content.ts";
import type { ChatMessage } from "../contracts/chat-message.ts";
import type { RawPrompt } from "../contracts/chat-model.ts";
import type { ForwardedEvent } from "../contracts/chat-proxy.ts";
import { MAX_ANSWER_LENGTH, MessageParts } from "../contracts/message-parts.ts";
import { filesIn, imagesIn, messageText } from "../contracts/message-text.ts";
import type { ChatRunEvent } from "./chat-call.ts";

/** Bytes of a forwarded answer; frames repeat several fields around each piece of text. */
const MAX_FORWARDED_BYTES = 8 * MAX_ANSWER_LENGTH;

/** Reads typed events; reads forwarded answers at their end, in the format of the call. */
export class ContentRecorder {
  readonly #call: ChatCall;
  readonly #parts = new MessageParts();
  readonly #forwarded: ForwardedEvent[] = [];
  #forwardedBytes = 0;

  constructor(call: ChatCall) {
    this.#call = call;
  }

  add(event: ChatRunEvent): void {
    switch (event.type) {
      case "text": {
        const type = event.isRefusal ? "refusal" : "text";
        this.#parts.append(event.choice, type, event.text, { type, content: "" });
        break;
      }
      case "reasoning":
        this.#parts.append(event.choice, "reasoning", event.text, { type: "reasoning", content: "" });
        break;
      case "tool-call":
        this.#parts.append(event.choice, `${event.index}`, "", { ...callOf(event), arguments: "" });
        break;
      case "tool-arguments":
        this.#parts.append(event.choice, `${event.index}`, event.text, { type: "tool_call", arguments: "" });
        break;
      case "choice-end":
        this.#parts.end(event.choice, event.reason);
        break;
      case "frames":
        this.#forwardedBytes += event.frames.length;
        if (this.#forwardedBytes <= MAX_FORWARDED_BYTES) this.#forwarded.push(event);
        break;
      case "finish":
        if ("completion" in event && event.completion !== undefined) this.#forwarded.push(event);
        break;
      case "start":
      case "echo":
        break;
    }
  }

  content(): ChatContent {
    const { request, prompts = [] } = this.#call;
    return {
      inputMessages: [...prompts.map(promptMessage), ...request.messages.map(toMessage)],
      outputMessages: this.forwarded()?.messages ?? this.#answers(),
    };
  }

  /** As the caller gets them. */
  #answers(): ContentMessage[] {
    const answers = this.#parts.messages();
    const { messages, repeatsBeginning } = this.#call.request;
    const last = messages.at(-1);
    return last === undefined || repeatsBeginning !== true
      ? answers
      : answers.map((answer) => withBeginning(answer, messageText(last)));
  }

  /** Reads an answer that was forwarded; undefined for one of typed events. */
  forwarded() {
    const { passThrough } = this.#call;
    return this.#forwarded.length === 0 ? undefined : passThrough?.contentOf(this.#forwarded);
  }
}

function withBeginning(answer: ContentMessage, beginning: string): ContentMessage {
  const at = answer.parts.findIndex(({ type }) => type === "text");
  const part = answer.parts[at];
  const begun = { type: "text", content: beginning + (part?.type === "text" ? part.content : "") } as const;
  return { ...answer, parts: part === undefined ? [begun, ...answer.parts] : answer.parts.with(at, begun) };
}

function callOf({ id, name }: { id: string; name: string }): { type: "tool_call"; id: string; name: string } {
  return { type: "tool_call", id, name };
}

/** With the text after the gap, where there is one. */
function promptMessage({ input, suffix }: RawPrompt): ContentMessage {
  const content = typeof input === "string" ? input : `[${input.length} token IDs]`;
  const texts = suffix === undefined ? [content] : [content, suffix];
  return { role: "user", parts: texts.map((text) => ({ type: "text", content: text })) };
}

function toMessage(message: ChatMessage): ContentMessage {
  const { role, name, toolCalls = [], toolCallId } = message;
  const text = messageText(message);
  if (role === "tool") return { role, name, parts: [{ type: "tool_call_response", id: toolCallId, response: text }] };
  const images = imagesIn(message).map(({ url }): ContentPart => {
    return url.startsWith("data:") ? { type: "blob", modality: "image" } : { type: "uri", modality: "image", uri: url };
  });
  const files = filesIn(message).map(({ url, name: file }): ContentPart => {
    if (url.startsWith("data:")) return { type: "blob", modality: "file", name: file };
    return { type: "uri", modality: "file", uri: url };
  });
  return {
    role,
    name,
    parts: [
      ...files,
      ...(text === "" ? [] : [{ type: "text", content: text } as const]),
      ...images,
      ...toolCalls.map((call) => ({ ...callOf(call), arguments: call.arguments })),
    ],
  };
}
