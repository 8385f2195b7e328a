/** One chat request from its reservation to its settlement. */

import type { Caller } from "../accounts/caller.ts";
import type { ChatEvent, ChatRequest, ChatUsage } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import type { Reservation } from "../quota/quota.ts";
import { type Candidate, type RoutedChat, routeChat } from "./router.ts";
import type { Settlement } from "./settlement.ts";

export interface ChatAnswer {
  /** The catalog id that answers, which may be a fallback's. */
  model: string;
  deployment: string;
  /** To be read to its end, or returned early; a failure on the way is thrown. */
  events: AsyncIterable<ChatEvent>;
  /** Resolves once it is over. */
  settled: Promise<Settlement>;
}

export interface ChatRunOptions {
  caller: Caller;
  request: ChatRequest;
  catalogId: string;
  reservation: Reservation;
  onSettled: (settlement: Settlement) => void;
}

export class ChatRun {
  readonly #options: ChatRunOptions;
  readonly #abort = new AbortController();
  readonly #beganAt = performance.now();
  readonly #used: ChatUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, estimated: false };
  #firstTokenSeconds: number | undefined;
  #routed: RoutedChat | undefined;
  readonly #settled = Promise.withResolvers<Settlement>();
  #isSettled = false;

  constructor(options: ChatRunOptions) {
    this.#options = options;
  }

  /** Ends the run; its consumer gets `reason`, a Fault. */
  abort(reason: Fault): void {
    this.#abort.abort(reason);
  }

  /** Resolves once an engine has begun to answer. Throws a Fault when none does. */
  async answer(candidates: readonly Candidate[]): Promise<ChatAnswer> {
    try {
      const routed = await routeChat(candidates, this.#options.request, this.#abort.signal);
      this.#routed = routed;
      // A client that leaves before it reads anything returns a generator that never began, whose `finally` never runs.
      this.#abort.signal.addEventListener("abort", () => this.#settle(outcomeOf(this.#abort.signal.reason)));
      return {
        model: routed.model,
        deployment: routed.deployment.name,
        events: this.#follow(routed.events),
        settled: this.#settled.promise,
      };
    } catch (failure) {
      this.#settle(outcomeOf(failure));
      throw failure;
    }
  }

  async *#follow(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
    let hasFinished = false;
    try {
      for await (const event of events) {
        this.#count(event);
        if (event.type === "finish") {
          hasFinished = true;
          this.#settle("finished");
        }
        yield event;
      }
      if (hasFinished) return;
      if (this.#abort.signal.aborted) throw this.#abort.signal.reason;
      throw new Error(`${this.#routed?.deployment.name} ended its answer without a finish`);
    } catch (failure) {
      this.#settle(outcomeOf(failure));
      throw failure;
    } finally {
      // Also reached when the consumer stops early: the engine must not go on, and what it made still counts.
      this.#settle("client-left");
      this.abort(new Fault("client-left", "The client left."));
    }
  }

  #count(event: ChatEvent): void {
    switch (event.type) {
      case "start":
        this.#used.promptTokens = event.promptTokens;
        this.#used.cachedTokens = event.cachedTokens;
        return;
      case "text":
      case "wire-frames":
        this.#used.completionTokens = event.completionTokens;
        break;
      case "finish":
        Object.assign(this.#used, event.usage);
        return;
      default:
    }
    this.#firstTokenSeconds ??= (performance.now() - this.#beganAt) / 1000;
  }

  /** Only the first call counts. */
  #settle(outcome: Settlement["outcome"]): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { caller, request, catalogId, reservation, onSettled } = this.#options;
    reservation.settle(this.#used);
    const settlement: Settlement = {
      caller,
      operation: "chat",
      requestedModel: request.model,
      catalogId,
      model: this.#routed?.model,
      deployment: this.#routed?.deployment.name,
      outcome,
      used: this.#used,
      durationSeconds: (performance.now() - this.#beganAt) / 1000,
      firstTokenSeconds: this.#firstTokenSeconds,
    };
    this.#settled.resolve(settlement);
    onSettled(settlement);
  }
}

function outcomeOf(failure: unknown): Settlement["outcome"] {
  return failure instanceof Fault && failure.kind === "client-left" ? "client-left" : "failed";
}
