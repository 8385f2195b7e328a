/** Reads the answers of an upstream's chat API, streamed or complete, in whatever format. */

import type { ChatRequest } from "../../../contracts/chat-model.ts";
import type { ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import { estimateTextTokens } from "../../../contracts/estimate-tokens.ts";
import type { NativeReader } from "../../../contracts/native-format.ts";
import type { Fault } from "../../../kernel/faults.ts";
import type { Exchange, ResponseHead } from "../connection/exchange.ts";
import { parseOrUndefined, readText } from "../connection/read-body.ts";
import type { UpstreamSettings } from "../connection-settings.ts";
import { readErrorResponse } from "../read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "../upstream-error.ts";
import type { FaultContext } from "../upstream-fault.ts";
import { UpstreamModel } from "../upstream-model.ts";
import { estimateUsage } from "./estimate-usage.ts";
import type { FrameSink } from "./frame-sink.ts";
import { parseObject, toUpstreamError } from "./native-frames.ts";
import type { CompleteAnswer } from "./read-completion.ts";
import { withStatedCost } from "./stated-cost.ts";

type Fields = Readonly<Record<string, unknown>>;
export type ReadAnswer = (text: string) => CompleteAnswer;

interface StreamOptions<Event> {
  sink: FrameSink<Event>;
  /** Bytes of a forwarded body's prompt, for estimates. */
  promptBytes?: (() => number) | undefined;
  /** Path of the request in OpenAI's API. */
  operation?: string;
  /** Renders an answer that came complete as the stream that was asked for; undefined: such an answer is an error. */
  toFrames?: ((answer: Fields) => Buffer) | undefined;
}

/** Sends the request. Throws a Fault. */
type Ask = () => Exchange | Promise<Exchange>;

export abstract class AnsweringModel<Settings extends UpstreamSettings> extends UpstreamModel<Settings> {
  /** Yields what `sink` makes of the stream. */
  protected async *streamed<Event>(
    request: ChatRequest,
    ask: Ask,
    { sink, promptBytes, operation, toFrames }: StreamOptions<Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event> {
    const context = this.contextOf(request.model, operation);
    const exchange = await ask();
    let isComplete = false;
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      if (head.status !== 200) throw await this.readRefusal(head, exchange, context);
      const complete = isStream(head) ? undefined : await this.#readInstead(exchange, toFrames);
      for (let chunks = complete ?? (await exchange.read()); chunks !== undefined; chunks = await exchange.read()) {
        const events = sink.take(chunks);
        if (events === undefined) continue;
        exchange.progress();
        for (const event of events) yield event;
        if (sink.failure !== undefined) throw sink.failure;
        if (sink.isDone) break;
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

  /** Renders what an upstream that ignores `stream` has sent: a complete answer, or a refusal with status 200. */
  async #readInstead(exchange: Exchange, toFrames: StreamOptions<unknown>["toFrames"]): Promise<readonly Buffer[]> {
    const answer = parseOrUndefined(await readText(exchange, this.settings.maxResponseBytes));
    const refusal = parseUpstreamError(answer);
    if (refusal !== undefined) throw refusal;
    if (toFrames === undefined || !hasChoices(answer)) throw new UpstreamError("answered without a stream");
    return [toFrames(answer)];
  }

  /** Returns undefined after an abort. */
  protected async completed(
    request: ChatRequest,
    ask: Ask,
    read: ReadAnswer,
    signal: AbortSignal,
    operation?: string,
  ): Promise<CompleteAnswer | undefined> {
    const context = this.contextOf(request.model, operation);
    const exchange = await ask();
    try {
      const head = await exchange.head();
      if (head === undefined) return undefined;
      if (head.status !== 200) throw await this.readRefusal(head, exchange, context);
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

  /** Reads the Fault of an answer whose status is not 200. */
  protected readRefusal(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Fault> {
    return readErrorResponse(head, exchange, context);
  }
}

/** Reads an answer in the upstream's own format. Throws an UpstreamError. */
export function readNativeAnswer(
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

function isStream({ headers }: ResponseHead): boolean {
  const type = String(headers["content-type"] ?? "text/event-stream");
  if (type.includes("html")) throw new UpstreamError("answered with a page instead of a stream");
  return !type.includes("json");
}

function hasChoices(answer: unknown): answer is Fields {
  return Array.isArray((answer as Fields | undefined)?.choices);
}

export function toFinish(answer: CompleteAnswer | undefined): ForwardedEvent | undefined {
  return answer && { type: "finish", usage: answer.usage, completion: answer.completion };
}
