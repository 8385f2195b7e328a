/** A chat model behind any API of OpenAI's kind, its answers passed on as they come. */

import type { Dispatcher } from "undici";
import type { Fault } from "../../faults.ts";
import type { Logger } from "../../observability/logger.ts";
import type { ChatEvent, ChatModel, ChatRequest, ModelHealth } from "../engine.ts";
import { ChatFrames } from "./chat-frames.ts";
import { readCompletion } from "./completion.ts";
import type { Connections } from "./connections.ts";
import { Exchange, type ResponseHead } from "./exchange.ts";
import { forwardedHeaders } from "./forwarded-headers.ts";
import { listUpstreamModels } from "./list-upstream-models.ts";
import { createMask } from "./mask.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { SseFrames } from "./sse-frames.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { brokenFault, closedFault, type FaultContext, refusalFault, retryAfterSeconds } from "./upstream-fault.ts";
import { requestTemplate, toUpstreamBody, toUpstreamModel } from "./upstream-request.ts";
import { estimateUsage, toFinishReason } from "./usage.ts";

const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** An error's body is read for its message only. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_LOGGED_LENGTH = 300;
const ERROR_BODY_SECONDS = 5;

export interface UpstreamChatOptions {
  /** The deployment's. */
  name: string;
  catalogId: string;
  settings: OpenAiCompatibleSettings;
  connections: Connections;
  logger: Logger;
}

export class UpstreamChat implements ChatModel {
  readonly task = "chat";
  readonly device = "upstream";
  readonly contextWindow = undefined;
  readonly passesWire = true;
  readonly slots: number | undefined;
  readonly #options: UpstreamChatOptions;
  readonly #template: Omit<Dispatcher.DispatchOptions, "body">;
  readonly #mask: FaultContext["mask"];
  #isClosed = false;

  constructor(options: UpstreamChatOptions) {
    this.slots = options.settings.maxConcurrency;
    this.#options = options;
    this.#template = requestTemplate(options.settings);
    this.#mask = createMask(options.settings);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  listModels(signal: AbortSignal): Promise<readonly string[]> {
    return listUpstreamModels(this.#options.connections, this.#options.settings, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.connections.close();
  }

  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    return request.stream ? this.#stream(request, signal) : this.#complete(request, signal);
  }

  #contextOf(request: ChatRequest): FaultContext {
    const { name, catalogId, settings } = this.#options;
    const upstreamModel = toUpstreamModel(settings.model, catalogId, request.model);
    return { deployment: name, model: request.model, upstreamModel, mask: this.#mask };
  }

  #send(request: ChatRequest, upstreamModel: string, signal: AbortSignal): Exchange {
    if (this.#isClosed) throw closedFault(this.#options.name);
    const { connections, settings } = this.#options;
    const accept = request.stream ? "text/event-stream" : "application/json";
    const forwarded = forwardedHeaders(settings.forwardRules, request.callerHeaders ?? {});
    // What the operator set goes before what the caller sent.
    const headers = { ...forwarded, ...(this.#template.headers as Record<string, string>), accept };
    const body = toUpstreamBody(request, upstreamModel);
    return new Exchange(connections, { ...settings, request: { ...this.#template, headers, body } }, signal);
  }

  async *#stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const context = this.#contextOf(request);
    const exchange = this.#send(request, context.upstreamModel, signal);
    let isWhole = false;
    try {
      await this.#expectAnswer(exchange, context);
      await this.#expectEventStream(exchange);
      const sse = new SseFrames(MAX_FRAME_BYTES);
      const choices = Number.isSafeInteger(request.wire.n) ? (request.wire.n as number) : 1;
      const frames = new ChatFrames({ model: request.model, choices });
      while (!frames.isDone) {
        const chunks = await exchange.read();
        if (chunks === undefined) break;
        let cut = "";
        for (const chunk of chunks) cut += sse.push(chunk);
        if (cut === "") continue;
        exchange.progress();
        const passed = frames.rewrite(cut);
        if (passed !== "") {
          yield { type: "wire-frames", frames: Buffer.from(passed, "latin1"), completionTokens: frames.frameCount };
        }
        if (frames.failure !== undefined) throw frames.failure;
      }
      if (signal.aborted) return;
      if (!frames.isComplete) throw new UpstreamError("ended its answer before it was whole");
      isWhole = true;
      const usage = frames.usage ?? estimateUsage(request.messages, frames.frameCount);
      const reason = toFinishReason(frames.finishReason ?? "stop");
      yield { type: "finish", reason, usage, usageFrame: frames.usageFrame(usage) };
    } catch (error) {
      if (!signal.aborted) throw this.#toFault(error, context);
    } finally {
      exchange.release(isWhole);
    }
  }

  async *#complete(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const context = this.#contextOf(request);
    const exchange = this.#send(request, context.upstreamModel, signal);
    try {
      await this.#expectAnswer(exchange, context);
      const body = await this.#readAll(exchange, this.#options.settings.maxResponseBytes);
      if (signal.aborted) return;
      const { completion, reason, usage } = readCompletion(body, request);
      yield { type: "wire-completion", completion };
      yield { type: "finish", reason, usage };
    } catch (error) {
      if (!signal.aborted) throw this.#toFault(error, context);
    } finally {
      exchange.release();
    }
  }

  /** Throws when the upstream refuses the request. */
  async #expectAnswer(exchange: Exchange, context: FaultContext): Promise<void> {
    const head = await exchange.head();
    if (head !== undefined && head.status !== 200) throw await this.#refusal(head, exchange, context);
  }

  /** An upstream that does not stream has refused the request with status 200, or is something else than it should be. */
  async #expectEventStream(exchange: Exchange): Promise<void> {
    const type = String((await exchange.head())?.headers["content-type"] ?? "text/event-stream");
    if (type.includes("json")) {
      const body = await this.#readAll(exchange, MAX_ERROR_BYTES);
      throw upstreamErrorIn(parseOrUndefined(body)) ?? new UpstreamError("answered without a stream");
    }
    if (type.includes("html")) throw new UpstreamError("answered with a page instead of a stream");
  }

  async #refusal(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Error> {
    const { status } = head;
    exchange.hurry(ERROR_BODY_SECONDS);
    let error: UpstreamError | undefined;
    try {
      error = upstreamErrorIn(parseOrUndefined(await this.#readAll(exchange, MAX_ERROR_BYTES)));
    } catch {
      // The status is answer enough.
    }
    return refusalFault(status, error, retryAfterSeconds(head.headers), context);
  }

  /** The rest of the body, up to `maxBytes`, or to where the signal aborted. */
  async #readAll(exchange: Exchange, maxBytes: number): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    for (let read = await exchange.read(); read !== undefined && length < maxBytes; read = await exchange.read()) {
      exchange.progress();
      for (const chunk of read) length += chunk.length;
      chunks.push(...read);
    }
    return Buffer.concat(chunks).toString();
  }

  /** Logs it too, but not what the request itself caused: that is for its caller only. */
  #toFault(error: unknown, context: FaultContext): Fault {
    const fault = brokenFault(error, context);
    this.#log(fault);
    return fault;
  }

  #log({ kind, message, cause }: Fault): void {
    if (kind !== "upstream-failed" && kind !== "upstream-timeout") return;
    const said = cause instanceof UpstreamError ? cause.details.message : undefined;
    const reason = said ?? (cause instanceof Error ? cause.message : undefined);
    this.#options.logger.warn({ reason: reason && this.#mask(reason).slice(0, MAX_LOGGED_LENGTH) }, message);
  }
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
