/** A chat model behind any API of OpenAI's kind: answers are forwarded as they come, or read as typed events. */

import type { ChatAbilities, ChatEvent, ChatRequest } from "../../../contracts/chat-model.ts";
import type { ChatProxy, ForwardedEvent, PassThrough } from "../../../contracts/chat-proxy.ts";
import { singleEvent } from "../../shared/single-event.ts";
import type { Exchange } from "../connection/exchange.ts";
import type { OpenAiCompatibleSettings } from "../settings.ts";
import type { UpstreamModelOptions } from "../upstream-model.ts";
import { toUpstreamBody } from "../upstream-request.ts";
import { AnsweringModel, type ReadAnswer, readNativeAnswer, toFinish } from "./answering-model.ts";
import { toChatBody, toCompletionBody } from "./chat-body.ts";
import { ChatEvents } from "./chat-events.ts";
import { ChatFrames, type StreamOptions } from "./chat-frames.ts";
import type { ChunkReaderOptions } from "./chunk-reader.ts";
import { completionToSse, completionToStream } from "./completion-to-sse.ts";
import type { FrameSink } from "./frame-sink.ts";
import { NativeFrames } from "./native-frames.ts";
import { type CompleteAnswer, readCompletion } from "./read-completion.ts";

type Body = Readonly<Record<string, unknown>>;

/** `promptBytes`: of a caller's own body, for estimates. */
type Payload = Pick<PassThrough, "body"> & Partial<Pick<PassThrough, "promptBytes" | "native" | "isTextCompletion">>;

export class UpstreamChat extends AnsweringModel<OpenAiCompatibleSettings> implements ChatProxy {
  readonly task = "chat";
  readonly contextWindow: number | undefined;
  readonly abilities: ChatAbilities;

  constructor(options: UpstreamModelOptions<OpenAiCompatibleSettings>) {
    super(options);
    const { tools, jsonSchema, logprobs, vision, completions, infill } = options.settings.abilities;
    this.contextWindow = options.settings.contextWindow;
    this.abilities = {
      tools,
      // Where the upstream cannot enforce a schema, its answers are validated here.
      jsonSchema: jsonSchema === undefined ? undefined : true,
      logprobs,
      vision,
      reasoning: undefined,
      choices: undefined,
      completions,
      infill,
    };
  }

  prepare(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> | undefined {
    return request.format.type === "json-schema" && this.#isChecked(request)
      ? withValidator(request, signal)
      : undefined;
  }

  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent> {
    if (request.prompt !== undefined) return this.events(request, toCompletionBody(request, request.prompt), signal);
    const body = toChatBody(request);
    return this.#isChecked(request) ? this.#checkedEvents(request, body, signal) : this.events(request, body, signal);
  }

  /** The typed events of the stream that `body` asks for. */
  events(request: ChatRequest, body: Body, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const forwarded = { body, isTextCompletion: request.prompt !== undefined };
    return this.#stream(request, forwarded, new ChatEvents(this.#readerOptions(request, body)), signal);
  }

  /** A format of the upstream's own is not forwarded where answers have to be validated here. */
  forwards({ native, isTextCompletion }: PassThrough): boolean {
    const { abilities } = this.settings;
    if (isTextCompletion === true) return abilities.completions !== false;
    return native === undefined || (abilities[native.operation] === true && abilities.jsonSchema !== false);
  }

  forward(request: ChatRequest, passThrough: PassThrough, signal: AbortSignal): AsyncIterable<ForwardedEvent> {
    const { native, isTextCompletion } = passThrough;
    if (native !== undefined) {
      const reader = native.reader(request.model);
      if (passThrough.stream) return this.#stream(request, passThrough, new NativeFrames(reader), signal);
      const read: ReadAnswer = (text) => readNativeAnswer(text, reader, request, passThrough.promptBytes);
      return singleEvent(async () => toFinish(await this.#complete(request, passThrough, signal, read)));
    }
    if (isTextCompletion !== true && this.#isChecked(request)) return this.#checkedBytes(request, passThrough, signal);
    if (!passThrough.stream) {
      return singleEvent(async () => toFinish(await this.#complete(request, passThrough, signal)));
    }
    const streamOptions = streamOptionsOf(passThrough.body);
    const options = { ...this.#readerOptions(request, passThrough.body), isTextCompletion, streamOptions };
    const frames = new ChatFrames({ model: request.model, ...options });
    return this.#stream(request, passThrough, frames, signal);
  }

  #isChecked({ format }: ChatRequest): boolean {
    return format.type !== "text" && this.settings.abilities.jsonSchema === false;
  }

  #readerOptions({ parallelToolCalls, tools }: ChatRequest, { n, prompt }: Body): ChunkReaderOptions {
    const choices = promptCount(prompt) * (Number.isSafeInteger(n) ? (n as number) : 1);
    const hasSingleCalls = !parallelToolCalls && tools.length > 0;
    return { choices, usagePerChoice: this.usagePerChoice, hasSingleCalls };
  }

  async *#checkedEvents(request: ChatRequest, body: Body, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const answer = await this.#completeChecked(request, { body }, signal);
    if (answer !== undefined) yield* ChatEvents.ofCompletion(answer.completion.fields, answer.usage);
  }

  /** Buffers a streamed answer until it is complete. */
  async *#checkedBytes(
    request: ChatRequest,
    passThrough: PassThrough,
    signal: AbortSignal,
  ): AsyncGenerator<ForwardedEvent> {
    const { body, stream } = passThrough;
    const answer = await this.#completeChecked(request, passThrough, signal);
    if (answer === undefined) return;
    const { completion, usage } = answer;
    if (!stream) {
      yield { type: "finish", usage, completion };
      return;
    }
    const { frames, usageFrame } = completionToSse(completion.fields, streamOptionsOf(body).include_usage === true);
    yield { type: "frames", frames, completionTokens: usage.completionTokens };
    yield { type: "finish", usage, usageFrame };
  }

  async #completeChecked(
    request: ChatRequest,
    { body, promptBytes }: Payload,
    signal: AbortSignal,
  ): Promise<CompleteAnswer | undefined> {
    const { deployment } = this.contextOf(request.model);
    // The validator takes 12 MB, which upstreams that enforce schemas do not need.
    const { checkedAnswer } = await import("./checked-answer.ts");
    const complete = (payload: Body, until: AbortSignal) =>
      this.#complete(request, { body: payload, promptBytes }, until);
    const { format, project } = request;
    try {
      return await checkedAnswer({ body, format, project }, signal, { complete, deployment });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #ask(
    { callerHeaders }: ChatRequest,
    payload: Payload,
    upstreamModel: string,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const { body, native } = payload;
    const headers = { accept: body.stream === true ? "text/event-stream" : "application/json", ...native?.headers };
    const written = toUpstreamBody(body, upstreamModel, native === undefined, native?.membersForOthers?.(body));
    const sent = written instanceof Promise ? await written : written;
    const operation = operationOf(payload);
    const credentials = this.hasChangingCredentials ? await this.credentials(operation, "", signal) : {};
    return this.send(operation, { body: sent, headers: { ...headers, ...credentials }, callerHeaders }, signal);
  }

  #stream<Event>(
    request: ChatRequest,
    payload: Payload,
    sink: FrameSink<Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event> {
    const { upstreamModel } = this.contextOf(request.model);
    // Not a generator of its own, which would pass each event on once more.
    return this.streamed(
      request,
      () => this.#ask(request, payload, upstreamModel, signal),
      {
        ...{ sink, promptBytes: payload.promptBytes, operation: operationOf(payload) },
        toFrames: payload.native === undefined ? completionToStream : undefined,
      },
      signal,
    );
  }

  /** Returns undefined after an abort. */
  #complete(
    request: ChatRequest,
    payload: Payload,
    signal: AbortSignal,
    read: ReadAnswer = (text) => readCompletion(text, request, payload.promptBytes),
  ): Promise<CompleteAnswer | undefined> {
    const { upstreamModel } = this.contextOf(request.model);
    const ask = () => this.#ask(request, payload, upstreamModel, signal);
    return this.completed(request, ask, read, signal, operationOf(payload));
  }
}

function streamOptionsOf({ stream_options: options }: Body): StreamOptions {
  return (options ?? {}) as StreamOptions;
}

function operationOf({ native, isTextCompletion }: Payload) {
  return native?.operation ?? (isTextCompletion === true ? "completions" : "chat/completions");
}

/** Returns the number of prompts of a text completion; 1 for chats. */
function promptCount(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== "number" ? Math.max(1, prompt.length) : 1;
}

async function withValidator(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> {
  const { compileFormat } = await import("./json-choice.ts");
  const { toSchemaRequest } = await import("../../shared/compile-schemas.ts");
  await compileFormat(request.format, toSchemaRequest(request, signal));
  return request;
}
