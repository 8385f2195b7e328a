/** A chat model behind any API of OpenAI's kind, its answers passed on as they come. */

import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest } from "../chat-model.ts";
import { OneEvent } from "../one-event.ts";
import { ChatFrames } from "./chat-frames.ts";
import { readCompletion, type WholeAnswer } from "./completion.ts";
import type { Exchange, ResponseHead } from "./exchange.ts";
import { parseOrUndefined, readText } from "./read-body.ts";
import { readRefusal } from "./read-refusal.ts";
import { SseFrames } from "./sse-frames.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { UpstreamModel, type UpstreamModelOptions } from "./upstream-model.ts";
import { toUpstreamBody } from "./upstream-request.ts";
import { estimateUsage } from "./usage.ts";

const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** What stands in the place of a stream is read for its message only. */
const MAX_MESSAGE_BYTES = 64 * 1024;

export class UpstreamChat extends UpstreamModel implements ChatModel {
  readonly task = "chat";
  readonly contextWindow = undefined;
  readonly passesWire = true;
  readonly abilities: ChatAbilities;

  constructor(options: UpstreamModelOptions) {
    super(options);
    const { tools, jsonSchema, logprobs, vision } = options.settings.abilities;
    this.abilities = {
      tools,
      // Where the upstream cannot be held to a schema, its answers are checked here.
      jsonSchema: jsonSchema === undefined ? undefined : true,
      logprobs,
      vision,
      reasoning: undefined,
      choices: undefined,
    };
  }

  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent> {
    if (request.format.type !== "text" && this.settings.abilities.jsonSchema === false) {
      return this.#completeChecked(request, signal);
    }
    if (request.stream) return this.#stream(request, signal);
    return new OneEvent(async () => toFinish(await this.#complete(request, signal)));
  }

  async *#completeChecked(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { deployment } = this.contextOf(request.model);
    // What checks schemas is 12 MB that most upstreams, which hold their answers to them, need not.
    const { checkedAnswer } = await import("./checked-answer.ts");
    yield* checkedAnswer(request, signal, { complete: (...asked) => this.#complete(...asked), deployment });
  }

  #ask(request: ChatRequest, upstreamModel: string, signal: AbortSignal): Exchange {
    const headers = { accept: request.stream ? "text/event-stream" : "application/json" };
    const body = toUpstreamBody(request, upstreamModel);
    return this.send("chat/completions", { body, headers, callerHeaders: request.callerHeaders }, signal);
  }

  async *#stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const context = this.contextOf(request.model);
    const exchange = this.#ask(request, context.upstreamModel, signal);
    let isWhole = false;
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      if (head.status !== 200) throw await readRefusal(head, exchange, context);
      await expectEventStream(head, exchange);
      const sse = new SseFrames(MAX_FRAME_BYTES);
      const choices = Number.isSafeInteger(request.wire.n) ? (request.wire.n as number) : 1;
      const frames = new ChatFrames({ model: request.model, choices, usagePerChoice: this.usagePerChoice });
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
      yield { type: "finish", usage, usageFrame: frames.usageFrame(usage) };
    } catch (error) {
      if (!signal.aborted) throw this.toFault(error, context);
    } finally {
      exchange.release(isWhole);
    }
  }

  /** Undefined once the signal has aborted. */
  async #complete(request: ChatRequest, signal: AbortSignal): Promise<WholeAnswer | undefined> {
    const context = this.contextOf(request.model);
    const exchange = this.#ask(request, context.upstreamModel, signal);
    try {
      const head = await exchange.head();
      if (head === undefined) return undefined;
      if (head.status !== 200) throw await readRefusal(head, exchange, context);
      const body = await readText(exchange, this.settings.maxResponseBytes);
      return signal.aborted ? undefined : readCompletion(body, request);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw this.toFault(error, context);
    } finally {
      exchange.release();
    }
  }
}

/** An upstream that does not stream has refused the request with status 200, or is something else than it should be. */
async function expectEventStream({ headers }: ResponseHead, exchange: Exchange): Promise<void> {
  const type = String(headers["content-type"] ?? "text/event-stream");
  if (type.includes("json")) {
    const body = await readText(exchange, MAX_MESSAGE_BYTES);
    throw upstreamErrorIn(parseOrUndefined(body)) ?? new UpstreamError("answered without a stream");
  }
  if (type.includes("html")) throw new UpstreamError("answered with a page instead of a stream");
}

function toFinish(answer: WholeAnswer | undefined): ChatEvent | undefined {
  return answer && { type: "finish", usage: answer.usage, completion: answer.completion };
}
