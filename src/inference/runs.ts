/** Starts runs, each with a reservation of quota, and knows those that run. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import { type Caller, projectOf } from "../contracts/caller.ts";
import type { Model } from "../contracts/engine.ts";
import type { Task } from "../contracts/task.ts";
import { ActiveSet } from "../kernel/async/active-set.ts";
import { Fault, type RateLimitStatus, unavailable } from "../kernel/faults.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./adapters/task-adapter.ts";
import type { AnswerCache, RunVariant } from "./cache/answer-cache.ts";
import type { CallerModels } from "./caller-models.ts";
import { chargesOf } from "./charge.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import { InferenceRun } from "./inference-run.ts";
import { limitToContextWindow } from "./limit-to-context-window.ts";
import type { OnDisconnect } from "./on-disconnect.ts";
import { CountedRequest, type Quota, type RequestPart, type UsageUpperBound } from "./quota.ts";
import { keyRevoked, projectChanged, type RevocableRun, RevokedRuns } from "./revoked-runs.ts";
import { contextWindowsOf, withPriceFor } from "./routing/candidates.ts";
import type { Router } from "./routing/router.ts";
import type { Settlement } from "./settlement.ts";
import { type ToolResult, ToolRun, type ToolRunOptions, type ToolSettlement, toolCharge } from "./tool-run.ts";

export interface RunsOptions {
  router: Router;
  quota: Quota;
  /** Discounts and surcharges of the caller's project. */
  projectFactors: (caller: Caller) => readonly string[];
  /** Returns the caller as it is now; undefined once its key or session has ended. Throws a Fault while that cannot be checked. */
  currentCaller: (caller: Caller) => Promise<Caller | undefined>;
  /** Whether the caller's key has not been revoked; true while that cannot be checked. */
  stillWorks: (caller: Caller) => Promise<boolean>;
  requestTimeoutSeconds: number;
  /** Whether answers to a caller may be kept for equal requests. */
  mayStore?: ((caller: Caller) => boolean) | undefined;
  /** Undefined: no model has a cache. */
  answerCache?: AnswerCache | undefined;
  /** Called with every request that had a model, once it is over. */
  onSettled: (settlement: Settlement) => void;
  /** Called with every call of a tool of this service, once it is over. */
  onToolSettled: (settlement: ToolSettlement) => void;
}

interface StartedRequest<Opened extends Model, Event> {
  caller: Caller;
  /** As the caller wrote it. */
  id: string;
  match: ResolvedModel;
  adapter: TaskAdapter<Opened, Event>;
  part: RequestPart;
}

export class Runs {
  readonly #models: CallerModels;
  readonly #options: RunsOptions;
  readonly #running = new ActiveSet<RevocableRun>();
  readonly #revokedRuns: RevokedRuns;

  constructor(models: CallerModels, options: RunsOptions) {
    this.#models = models;
    this.#options = options;
    this.#revokedRuns = new RevokedRuns(this.#running, options.stillWorks);
  }

  get count(): number {
    return this.#running.size;
  }

  /** Aborts all running requests with an error that each client sees. */
  stop(): void {
    this.#options.answerCache?.stop();
    for (const run of this.#running) {
      run.abort(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
    }
  }

  /**
   * Resolves with the answer once an engine has begun it, or with an earlier one from the cache. `part`: default: a
   * request that the run counts. Throws a Fault.
   */
  async run<Opened extends Model, Event>(
    caller: Caller,
    id: string,
    adapter: TaskAdapter<Opened, Event>,
    onDisconnect: OnDisconnect,
    part: RequestPart = {},
  ): Promise<InferenceAnswer<Event>> {
    const match = this.#models.findForTask(caller, id, adapter.task);
    const request = { caller, id, match, adapter, part };
    const { answerCache, mayStore } = this.#options;
    const { cache } = match.model;
    const isCached = cache !== undefined && mayStore?.(caller) !== false;
    if (!isCached || answerCache === undefined) return this.#start(request, { onDisconnect });
    const run = (variant: RunVariant<Event>) => this.#start(request, variant);
    return answerCache.answer({ caller, match, adapter, onDisconnect, run }, cache);
  }

  async #start<Opened extends Model, Event>(
    { caller, id, match, adapter, part }: StartedRequest<Opened, Event>,
    { onDisconnect, outcome, replay }: Partial<RunVariant<Event>> & Pick<RunVariant<Event>, "onDisconnect">,
  ): Promise<InferenceAnswer<Event>> {
    const { model } = match;
    const { isWithinRequest = false, counted } = part;
    const candidates = [match, ...this.#models.fallbacks(caller, model)].map((each) => withPriceFor(caller, each));
    const startedAt = Date.now();
    let upperBound: UsageUpperBound | undefined;
    const reserved = this.#options.quota.reserve({
      caller,
      model: match.id,
      catalogId: model.id,
      upperBound: () => {
        if (replay !== undefined) return NO_UPPER_BOUND;
        upperBound ??= limitToContextWindow(adapter.upperBound(), contextWindowsOf(candidates), adapter);
        return upperBound;
      },
      operation: adapter.task,
      charges: () => (replay === undefined ? chargesOf(projectOf(caller), candidates) : []),
      choices: adapter.choices,
      isWithinRequest,
      counted: counted?.adopt(),
      isBatch: caller.priority === "batch",
      startedAt,
    });
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    const run = new InferenceRun<Opened, Event>({
      router: this.#options.router,
      caller,
      adapter,
      requestedModel: id,
      catalogId: model.id,
      reservation,
      startedAt,
      cache: outcome,
      replay,
      onSettled: (settlement) => {
        clearTimeout(deadline);
        this.#running.delete(entry);
        this.#options.onSettled(settlement);
      },
    });
    const seconds = this.#options.requestTimeoutSeconds;
    const deadline = setTimeout(() => run.abort(timedOut(seconds)), seconds * 1000).unref();
    // Harmless after the end of the request.
    const settlement = isWithinRequest ? undefined : () => run.settlement;
    onDisconnect(() => run.abort(new Fault("client-left", "The client left.")), settlement);
    const entry = this.#running.add(run);
    this.#revokedRuns.watch();
    return await run.answer(candidates);
  }

  /** Runs a call of a tool. Throws a Fault when it exceeds a limit or is aborted. */
  async runTool<Result>(
    caller: Caller,
    tool: ToolRunOptions,
    onDisconnect: OnDisconnect,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<ToolResult<Result>> {
    const startedAt = Date.now();
    const charge = toolCharge(tool, this.#options.projectFactors(caller));
    const reservation = await this.#options.quota.reserve({
      caller,
      model: undefined,
      catalogId: undefined,
      upperBound: () => NO_UPPER_BOUND,
      operation: "tool",
      charges: () => [charge],
      isWithinRequest: true,
      isBatch: caller.priority === "batch",
      startedAt,
    });
    const { onToolSettled } = this.#options;
    const run = new ToolRun({ caller, tool, charge, reservation, startedAt, onSettled: onToolSettled });
    const entry = this.#running.add(run);
    onDisconnect(() => run.abort(new Fault("client-left", "The client left.")));
    this.#revokedRuns.watch();
    try {
      return await run.run(work);
    } finally {
      this.#running.delete(entry);
    }
  }

  /** Returns the caller as it is now, for a later step of its request. Throws a Fault once its key or session has ended. */
  async currentCaller(caller: Caller): Promise<Caller> {
    const current = await this.#options.currentCaller(caller);
    if (current === undefined) throw keyRevoked();
    // A console session that has changed to another project has another key.
    if (current.keyId !== caller.keyId) throw projectChanged();
    return current;
  }

  async countRecorded(caller: Caller, at: number): Promise<void> {
    await this.#options.quota.countRecorded?.(caller, at);
  }

  /**
   * Counts a request with a model before its run, which adopts that; `id`: undefined for the caller's first model of the
   * task. Throws a Fault when it exceeds a limit.
   */
  async countEarly(caller: Caller, id: string | undefined, task: Task): Promise<CountedRequest> {
    const match = this.#models.findForTask(caller, id ?? this.#models.first(caller, task), task);
    const rateLimitStatus = await this.#count(caller, match);
    return new CountedRequest({ model: match.id, catalogId: match.model.id, rateLimitStatus });
  }

  /** Counts a request that needs no model. Throws a Fault when it exceeds a limit. */
  admit(caller: Caller): Promise<RateLimitStatus> {
    return this.#count(caller);
  }

  async #count(caller: Caller, match?: ResolvedModel): Promise<RateLimitStatus> {
    const claim = {
      caller,
      model: match?.id,
      catalogId: match?.model.id,
      upperBound: () => NO_UPPER_BOUND,
      operation: undefined,
      charges: () => [],
      isBatch: caller.priority === "batch",
      startedAt: Date.now(),
    };
    return (await this.#options.quota.reserve(claim)).rateLimitStatus;
  }
}

function timedOut(seconds: number): Fault {
  const message = `The answer was not finished within ${seconds} seconds, the limit for a request.`;
  return new Fault("upstream-timeout", message, { code: "upstream_timeout" });
}
