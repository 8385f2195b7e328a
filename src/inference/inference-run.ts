/** One request of any task, from its reservation to its settlement. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import { costInNanoDollars, costParts } from "../catalog/prices/cost.ts";
import type { Caller } from "../contracts/caller.ts";
import type { Model } from "../contracts/engine.ts";
import type { Charge } from "../contracts/price.ts";
import type { Deployment } from "../deployments/deployment.ts";
import { Fault, withLimits } from "../kernel/faults.ts";
import { newId } from "../kernel/id.ts";
import { NO_USAGE, type Usage } from "../kernel/usage.ts";
import { usageAttributes } from "../observability/usage-attributes.ts";
import type { TaskAdapter } from "./adapters/task-adapter.ts";
import type { AttemptStats } from "./attempt.ts";
import type { Replay } from "./cache/answer-cache.ts";
import type { CacheOutcome } from "./cache/cache-outcome.ts";
import { NO_CHARGE } from "./charge.ts";
import type { InferenceAnswer, ModelFacts } from "./inference-answer.ts";
import type { Reservation } from "./quota.ts";
import type { Routed, Router } from "./routing/router.ts";
import type { Settlement } from "./settlement.ts";

export interface InferenceRunOptions<Opened extends Model, Event> {
  router: Router;
  caller: Caller;
  adapter: TaskAdapter<Opened, Event>;
  requestedModel: string;
  catalogId: string;
  reservation: Reservation;
  /** Time of the reservation in epoch milliseconds. */
  startedAt: number;
  onSettled: (settlement: Settlement) => void;
  /** What the cache did; undefined for a model without one. */
  cache?: CacheOutcome | undefined;
  /** Answer that the run repeats instead of asking a deployment, which costs nothing. */
  replay?: Replay<Event> | undefined;
}

/** What answers: a deployment, or the cache. */
interface Served<Event> extends Pick<Routed<Model, Event>, "id" | "charge" | "events" | "occasion"> {
  deployment: Pick<Deployment, "name" | "entry" | "engine">;
  facts: ModelFacts;
}

/** Run of a request and iterator over its events; a class for the same reason as `LifecycleIterator`. */
export class InferenceRun<Opened extends Model, Event> implements AsyncIterableIterator<Event> {
  readonly #options: InferenceRunOptions<Opened, Event>;
  readonly #abort = new AbortController();
  readonly #beganAt = performance.now();
  readonly #used: Usage = { ...NO_USAGE };
  readonly #attemptStats: AttemptStats = { attempts: 0, queuedSeconds: 0 };
  #firstTokenSeconds: number | undefined;
  #served: Served<Event> | undefined;
  #hasFinished = false;
  #isPreempted = false;
  #settlement: Settlement | undefined;

  constructor(options: InferenceRunOptions<Opened, Event>) {
    this.#options = options;
  }

  get caller(): Caller {
    return this.#options.caller;
  }

  get ageSeconds(): number {
    return (performance.now() - this.#beganAt) / 1000;
  }

  /** How the run has ended; undefined before. */
  get settlement(): Settlement | undefined {
    return this.#settlement;
  }

  /** Ends the run; its consumer gets `reason`. */
  abort(reason: Fault): void {
    this.#abort.abort(reason);
    // A client that disconnects before reading returns a generator that never started, whose `finally` never runs.
    if (this.#served !== undefined) this.#settle(outcomeOf(reason));
  }

  /** Resolves once an engine has begun to answer. Throws a Fault when none does. */
  async answer(candidates: readonly ResolvedModel[]): Promise<InferenceAnswer<Event>> {
    const { signal } = this.#abort;
    try {
      const { router, adapter, caller, cache, replay } = this.#options;
      const project = caller.projectId ?? caller.organizationId;
      const { priority } = caller;
      const preempt = priority === "batch" ? () => this.#preempt() : undefined;
      const attemptStats = this.#attemptStats;
      const route = { candidates, adapter, signal, project, priority, preempt, attemptStats };
      const served = replay === undefined ? toServed(await router.route(route), adapter) : fromCache(replay);
      if (replay !== undefined) Object.assign(this.#used, replay.used);
      this.#served = served;
      const { deployment } = served;
      return {
        ...served.facts,
        id: newId(""),
        createdAt: this.#options.startedAt,
        model: served.id,
        fallbackOccasion: served.occasion,
        deployment: deployment.entry,
        deploymentName: deployment.name,
        engine: deployment.engine,
        cache,
        rateLimitStatus: this.#options.reservation.rateLimitStatus,
        events: this,
        used: this.#used,
        settleAs: (outcome) => this.#settle(outcome),
        settlement: () => this.#settlement,
      };
    } catch (failure) {
      Object.assign(this.#used, this.#attemptStats.spent?.used);
      this.#settle(outcomeOf(failure));
      throw withLimits(failure, this.#options.reservation.rateLimitStatus);
    }
  }

  /** Ends a batch request for an interactive one. It repeats from its beginning, so this run costs nothing. */
  #preempt(): void {
    this.#isPreempted = true;
    this.abort(new Fault("client-left", "An interactive request took the slot.", { code: "preempted" }));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns the next event of an answer that has begun. */
  next(): Promise<IteratorResult<Event>> {
    return (this.#served as Served<Event>).events.next().then(this.#onResult, this.#onFailure);
  }

  /** Ends the answer early: stops the engine and settles what it has generated. */
  async return(): Promise<IteratorResult<Event>> {
    this.#settle("client-left");
    this.abort(new Fault("client-left", "The client left."));
    await this.#served?.events.return?.();
    return { done: true, value: undefined };
  }

  readonly #onResult = (result: IteratorResult<Event>): IteratorResult<Event> => {
    const { adapter, replay } = this.#options;
    const { signal } = this.#abort;
    if (result.done) {
      // Engines stop without throwing once aborted, so an end alone does not mean that the answer is complete.
      if (!this.#hasFinished && signal.aborted) this.#onFailure(signal.reason);
      if (!this.#hasFinished && adapter.isEnd !== undefined) {
        this.#onFailure(new Error(`${this.#served?.deployment.name} broke off its answer`));
      }
      this.#settle("finished");
      return result;
    }
    const isAnswer = adapter.count(result.value, replay === undefined ? this.#used : { ...NO_USAGE });
    if (isAnswer) this.#firstTokenSeconds ??= this.ageSeconds;
    if (adapter.isEnd?.(result.value) === true) {
      this.#hasFinished = true;
      this.#settle("finished");
    }
    return result;
  };

  readonly #onFailure = (failure: unknown): never => {
    this.#settle(outcomeOf(failure), failure);
    this.abort(new Fault("client-left", "The client got an error."));
    throw failure;
  };

  /** Records the end; only the first call counts. */
  #settle(outcome: Settlement["outcome"], failure?: unknown): void {
    if (this.#settlement !== undefined) return;
    const { caller, adapter, requestedModel, catalogId, reservation, startedAt, onSettled, cache } = this.#options;
    const served = this.#served ?? this.#attemptStats.spent;
    const isFree = this.#isPreempted || cache?.status === "hit";
    const used = isFree ? { ...NO_USAGE } : this.#used;
    const isAbandoned = outcome === "client-left" || this.#abort.signal.aborted;
    if (isAbandoned && !isFree && outcome !== "finished" && served !== undefined) adapter.countAbandoned(used);
    const charge = isFree ? NO_CHARGE : (served?.charge ?? NO_CHARGE);
    const costNanoDollars = isFree ? 0 : costInNanoDollars(charge, adapter.task, used);
    const isReported = used.details?.reportedCostNanoDollars !== undefined;
    const { deploymentCharge = charge } = charge;
    this.#settlement = {
      caller,
      operation: adapter.task,
      requestedModel,
      catalogId,
      model: served?.id,
      costNanoDollars,
      costParts: hasUncommonParts(charge, used) ? costParts(charge, adapter.task, used) : undefined,
      comparedCostNanoDollars: isReported ? costInNanoDollars(deploymentCharge, adapter.task, used) : null,
      deployment: served?.deployment.name,
      engine: served?.deployment.engine,
      deploymentEntry: served?.deployment.entry,
      attempts: this.#attemptStats.attempts,
      queuedSeconds: this.#attemptStats.queuedSeconds,
      stages: this.#attemptStats.stages ?? [],
      cache: cache?.status,
      outcome,
      used,
      startedAt,
      durationSeconds: this.ageSeconds,
      firstTokenSeconds: this.#firstTokenSeconds,
    };
    const { engineSpan } = this.#attemptStats;
    engineSpan?.end(
      {
        ...usageAttributes({ used, costNanoDollars, model: served?.id, labels: caller.labels }),
        "parlance.time_to_first_token_seconds": this.#firstTokenSeconds,
        "parlance.outcome": outcome,
      },
      outcome === "failed" ? failure : undefined,
      adapter.content?.(),
    );
    reservation.settle(used, costNanoDollars);
    onSettled(this.#settlement);
  }
}

/** Whether more than the model's common prices per token makes the cost. */
function hasUncommonParts({ price, factors }: Charge, { details }: Usage): boolean {
  const { tiers, request, reasoning, exchange_rate } = price;
  const isPlain = factors.length === 0 && tiers === undefined && request === undefined && reasoning === undefined;
  return details !== undefined || !isPlain || exchange_rate !== undefined;
}

function outcomeOf(failure: unknown): Settlement["outcome"] {
  return failure instanceof Fault && failure.kind === "client-left" ? "client-left" : "failed";
}

function toServed<Opened extends Model, Event>(
  { opened, ...routed }: Routed<Opened, Event>,
  adapter: TaskAdapter<Opened, Event>,
): Served<Event> {
  const facts = {
    isUpstream: routed.deployment.isUpstream,
    isForwarded: adapter.isForwarded?.(opened) ?? false,
    sampleRate: "sampleRate" in opened ? opened.sampleRate : 0,
  };
  return { ...routed, facts };
}

function fromCache<Event>({ model: id, deploymentName: name, deployment: entry, engine, ...replay }: Replay<Event>) {
  const { isUpstream, isForwarded, sampleRate, events } = replay;
  return {
    id,
    occasion: undefined,
    charge: NO_CHARGE,
    deployment: { name, entry, engine },
    facts: { isUpstream, isForwarded, sampleRate },
    events: readAll(events),
  };
}

async function* readAll<Event>(events: readonly Event[]): AsyncGenerator<Event, void> {
  yield* events;
}
