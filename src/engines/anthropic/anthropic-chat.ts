/** A chat model behind Anthropic's API. Requests in Anthropic's format are forwarded, others converted. */

import type { ChatRequest } from "../../contracts/chat-model.ts";
import type { ChatProxy, ForwardedEvent, PassThrough } from "../../contracts/chat-proxy.ts";
import type { NativeFormat } from "../../contracts/native-format.ts";
import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { NativeChat } from "../native-upstream/native-chat.ts";
import { readNativeAnswer, toFinish } from "../openai-compatible/chat/answering-model.ts";
import { NativeFrames } from "../openai-compatible/chat/native-frames.ts";
import type { UpstreamModelOptions } from "../openai-compatible/upstream-model.ts";
import { toUpstreamBody } from "../openai-compatible/upstream-request.ts";
import { singleEvent } from "../shared/single-event.ts";
import { readAnthropicError } from "./anthropic-error.ts";
import { callerVersion } from "./caller-version.ts";
import { MessageEvents } from "./message-events.ts";
import { toMessagesBody, withCacheMarks } from "./messages-request.ts";
import type { AnthropicSettings } from "./settings.ts";

export class AnthropicChat extends NativeChat<AnthropicSettings> implements ChatProxy {
  constructor(options: UpstreamModelOptions<AnthropicSettings>) {
    super({ ...options, dialect: toDialect(options.settings) });
  }

  forwards({ native }: PassThrough): boolean {
    return native?.operation === "messages";
  }

  forward(request: ChatRequest, passThrough: PassThrough, signal: AbortSignal): AsyncIterable<ForwardedEvent> {
    const { native, promptBytes } = passThrough;
    if (native === undefined) throw new Error("Only bodies of the Messages API are forwarded.");
    const ask = () => this.#ask(request, passThrough, native, signal);
    const reader = native.reader(request.model);
    if (passThrough.stream) return this.streamed(request, ask, { sink: new NativeFrames(reader), promptBytes }, signal);
    const read = (text: string) => readNativeAnswer(text, reader, request, promptBytes);
    return singleEvent(async () => toFinish(await this.completed(request, ask, read, signal)));
  }

  async #ask(request: ChatRequest, { body, stream }: PassThrough, { operation }: NativeFormat, signal: AbortSignal) {
    const { upstreamModel } = this.contextOf(request.model);
    // The bytes belong to the caller's own object.
    const marked = withCacheMarks(body, this.settings.cache);
    const written = await toUpstreamBody(marked, upstreamModel, false);
    const accept = stream ? "text/event-stream" : "application/json";
    const headers = { accept, ...callerVersion(request.callerHeaders) };
    return this.send(operation, { body: written, headers, callerHeaders: request.callerHeaders }, signal);
  }
}

function toDialect(settings: AnthropicSettings): ChatDialect {
  return {
    provider: "Anthropic",
    abilities: { ...NATIVE_ABILITIES, continuation: true },
    fields: new Set(["temperature", "topP", "topK", "stop", "reasoningEffort", "format"]),
    toCall: (request, model) => ({ path: "messages", body: toMessagesBody(request, model, settings) }),
    newSink: (request) => new MessageEvents(request),
    readError: readAnthropicError,
  };
}
