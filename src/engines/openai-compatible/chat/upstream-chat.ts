/** A chat model behind any API of OpenAI's kind: answers are forwarded as they come, or read as typed events. */

import type { ChatAbilities, ChatEvent, ChatRequest } from "../../../contracts/chat-model.ts";
import type { ChatProxy, ForwardedEvent, PassThrough } from "../../../contracts/chat-proxy.ts";
import type { NativeReader } from "../../../contracts/native-format.ts";
import { estimateTextTokens } from "../../shared/estimate-tokens.ts";
import { singleEvent } from "../../shared/single-event.ts";
import type { Exchange, ResponseHead } from "../connection/exchange.ts";
import { parseOrUndefined, readText } from "../connection/read-body.ts";
import { readErrorResponse } from "../read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "../upstream-error.ts";
import { UpstreamModel, type UpstreamModelOptions } from "../upstream-model.ts";
import { toUpstreamBody } from "../upstream-request.ts";
import { toChatBody, toCompletionBody } from "./chat-body.ts";
import { ChatEvents } from "./chat-events.ts";
import { ChatFrames } from "./chat-frames.ts";
import type { ChunkReaderOptions } from "./chunk-reader.ts";
import { completionToSse } from "./completion-to-sse.ts";
import { estimateUsage } from "./estimate-usage.ts";
import type { FrameSink } from "./frame-sink.ts";
import { NativeFrames, parseObject, toUpstreamError } from "./native-frames.ts";
import { type CompleteAnswer, readCompletion } from "./read-completion.ts";
import { withStatedCost } from "./stated-cost.ts";

/** A body instead of a stream is read only for its message. */
const MAX_MESSAGE_BYTES = 64 * 1024;

type ReadAnswer = (text: string) => CompleteAnswer;

type Body = Readonly<Record<string, unknown>>;

/** `promptBytes`: of a caller's own body, for estimates. */
type Asked = Pick<PassThrough, "body"> & Partial<Pick<PassThrough, "promptBytes" | "native" | "isTextCompletion">>;

export class UpstreamChat extends UpstreamModel implements ChatProxy {
  readonly task = "chat";
  readonly contextWindow: number | undefined;
  readonly abilities: ChatAbilities;

  constructor(options: UpstreamModelOptions) {
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
    return this.#stream(request, forwarded, new ChatEvents(this.#readerOptions(body)), signal);
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
    const frames = new ChatFrames({ model: request.model, isTextCompletion, ...this.#readerOptions(passThrough.body) });
    return this.#stream(request, passThrough, frames, signal);
  }

  #isChecked({ format }: ChatRequest): boolean {
    return format.type !== "text" && this.settings.abilities.jsonSchema === false;
  }

  #readerOptions({ n, prompt }: Body): ChunkReaderOptions {
    const choices = promptCount(prompt) * (Number.isSafeInteger(n) ? (n as number) : 1);
    return { choices, usagePerChoice: this.usagePerChoice };
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
    const options = body.stream_options as { include_usage?: boolean } | undefined;
    const { frames, usageFrame } = completionToSse(completion.fields, options?.include_usage === true);
    yield { type: "frames", frames, completionTokens: usage.completionTokens };
    yield { type: "finish", usage, usageFrame };
  }

  async #completeChecked(
    request: ChatRequest,
    { body, promptBytes }: Asked,
    signal: AbortSignal,
  ): Promise<CompleteAnswer | undefined> {
    const { deployment } = this.contextOf(request.model);
    // The validator takes 12 MB, which upstreams that enforce schemas do not need.
    const { checkedAnswer } = await import("./checked-answer.ts");
    const complete = (asked: Body, until: AbortSignal) => this.#complete(request, { body: asked, promptBytes }, until);
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
    { body, native, isTextCompletion }: Asked,
    upstreamModel: string,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const headers = { accept: body.stream === true ? "text/event-stream" : "application/json", ...native?.headers };
    const written = toUpstreamBody(body, upstreamModel, native === undefined);
    const sent = written instanceof Promise ? await written : written;
    const operation = isTextCompletion === true ? "completions" : "chat/completions";
    return this.send(native?.operation ?? operation, { body: sent, headers, callerHeaders }, signal);
  }

  async *#stream<Event>(
    request: ChatRequest,
    asked: Asked,
    sink: FrameSink<Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event> {
    const { promptBytes } = asked;
    const context = this.contextOf(request.model);
    const exchange = await this.#ask(request, asked, context.upstreamModel, signal);
    let isComplete = false;
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
      await expectEventStream(head, exchange);
      while (!sink.isDone) {
        const chunks = await exchange.read();
        if (chunks === undefined) break;
        const events = sink.take(chunks);
        if (events === undefined) continue;
        exchange.progress();
        for (const event of events) yield event;
        if (sink.failure !== undefined) throw sink.failure;
      }
      if (signal.aborted) return;
      if (!sink.isComplete) throw new UpstreamError("ended its answer before it was complete");
      isComplete = true;
      const usage = sink.usage ?? estimateUsage(request, sink.estimatedTokens, promptBytes?.());
      for (const event of sink.finish(withStatedCost(usage, head))) yield event;
    } catch (error) {
      if (!signal.aborted) throw this.toFault(error, context);
    } finally {
      exchange.release(isComplete);
    }
  }

  /** Returns undefined after an abort. */
  async #complete(
    request: ChatRequest,
    asked: Asked,
    signal: AbortSignal,
    read: ReadAnswer = (text) => readCompletion(text, request, asked.promptBytes),
  ): Promise<CompleteAnswer | undefined> {
    const context = this.contextOf(request.model);
    const exchange = await this.#ask(request, asked, context.upstreamModel, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) return undefined;
      if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
      const text = await readText(exchange, this.settings.maxResponseBytes);
      if (signal.aborted) return undefined;
      const answer = read(text);
      return { ...answer, usage: withStatedCost(answer.usage, head) };
    } catch (error) {
      if (signal.aborted) return undefined;
      throw this.toFault(error, context);
    } finally {
      exchange.release();
    }
  }
}

/** Returns the number of prompts of a text completion; 1 for chats. */
function promptCount(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== "number" ? Math.max(1, prompt.length) : 1;
}

/** Reads an answer in the upstream's own format. Throws an UpstreamError. */
function readNativeAnswer(
  text: string,
  reader: NativeReader,
  request: ChatRequest,
  promptBytes: () => number,
): CompleteAnswer {
  const fields = parseObject(text);
  try {
    reader.readComplete(fields);
  } catch (error) {
    throw toUpstreamError(error);
  }
  const json = JSON.stringify(fields);
  const usage = reader.usage ?? estimateUsage(request, estimateTextTokens(json), promptBytes());
  return { completion: { fields, json }, usage };
}

async function withValidator(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> {
  const { compileFormat } = await import("./json-choice.ts");
  const { toSchemaRequest } = await import("../../shared/compile-schemas.ts");
  await compileFormat(request.format, toSchemaRequest(request, signal));
  return request;
}

/** An upstream that does not stream has refused the request with status 200, or is not a chat API. */
async function expectEventStream({ headers }: ResponseHead, exchange: Exchange): Promise<void> {
  const type = String(headers["content-type"] ?? "text/event-stream");
  if (type.includes("json")) {
    const body = await readText(exchange, MAX_MESSAGE_BYTES);
    throw parseUpstreamError(parseOrUndefined(body)) ?? new UpstreamError("answered without a stream");
  }
  if (type.includes("html")) throw new UpstreamError("answered with a page instead of a stream");
}

function toFinish(answer: CompleteAnswer | undefined): ForwardedEvent | undefined {
  return answer && { type: "finish", usage: answer.usage, completion: answer.completion };
}
