/** Selects the deployments for a request, one after the other, until one begins to answer. */

import type { ResolvedModel } from "../../catalog/catalog.ts";
import type { Model } from "../../contracts/engine.ts";
import type { Charge } from "../../contracts/price.ts";
import type { Deployment } from "../../deployments/deployment.ts";
import { backoffDelay } from "../../kernel/async/backoff.ts";
import { sleep } from "../../kernel/async/retry.ts";
import { Fault, type FaultKind, unavailable } from "../../kernel/faults.ts";
import type { TaskAdapter } from "../adapters/task-adapter.ts";
import { type AttemptMeasure, type AttemptOptions, attempt, isTooLong, waitFor } from "../attempt.ts";
import { chargeOf } from "../charge.ts";
import { LoadBalancer, type LoadBalancerOptions } from "./load-balancer.ts";
import { RetryBudget } from "./retry-budget.ts";

export interface RouterOptions extends LoadBalancerOptions {
  onAttempt?: (measure: AttemptMeasure) => void;
  /** Finds a model as it is now, with the endpoints that have joined its pools. */
  find?: (id: string) => ResolvedModel | undefined;
}

export interface RouteOptions<Opened extends Model, Event> extends AttemptOptions<Opened, Event> {
  /** Requested model, then its fallbacks. */
  candidates: readonly ResolvedModel[];
}

export interface Routed<Opened extends Model, Event> {
  /** Catalog ID that answers: the requested one or a fallback's. */
  id: string;
  /** Charge of the request. */
  charge: Charge;
  deployment: Deployment;
  /** Set for a fallback that answers because the prompt did not fit the model before it. */
  occasion?: "context_length" | undefined;
  opened: Opened;
  /** Events of the answer, beginning with the one already received. */
  events: AsyncIterator<Event>;
}

/** Kinds of failure that a retry at the same deployment may avoid. */
const AGAIN: ReadonlySet<FaultKind> = new Set(["unavailable", "upstream-failed", "request-rate-limited"]);

/** Delay between rounds over the deployments, in milliseconds. */
const RETRY = { initial: 100, jitter: [0.5, 1] } as const;

export class Router {
  readonly #onAttempt: (measure: AttemptMeasure) => void;
  readonly #find: NonNullable<RouterOptions["find"]>;
  readonly #loadBalancer: LoadBalancer;
  /** Retry budgets by the ID of the catalog's entry. */
  readonly #budgets = new Map<string, RetryBudget>();

  constructor({ onAttempt = () => {}, find = () => undefined, ...options }: RouterOptions = {}) {
    this.#onAttempt = onAttempt;
    this.#find = find;
    this.#loadBalancer = new LoadBalancer(options);
  }

  /**
   * Resolves with the first deployment that yields an event. Throws a Fault: at once if the request caused it,
   * otherwise the last failure, or the reason that no attempt was possible.
   */
  async route<Opened extends Model, Event>(options: RouteOptions<Opened, Event>): Promise<Routed<Opened, Event>> {
    const budget = this.#budgetOf(options.candidates[0]?.model.id ?? "");
    budget.earn();
    const reasons = new Reasons();
    for (const candidate of options.candidates) {
      if (!reasons.admit(candidate)) continue;
      const tried = new Set<Deployment>();
      for (let next: ResolvedModel | undefined = candidate; next !== undefined; next = this.#joined(candidate, tried)) {
        const routed = await this.#tryModel(next, options, budget, reasons);
        if (routed !== undefined) return routed;
        if (reasons.tooLong !== undefined) break;
        for (const each of next.model.deployments) tried.add(each);
      }
    }
    throw reasons.toThrow();
  }

  async #tryModel<Opened extends Model, Event>(
    candidate: ResolvedModel,
    options: RouteOptions<Opened, Event>,
    budget: RetryBudget,
    reasons: Reasons,
  ): Promise<Routed<Opened, Event> | undefined> {
    const { adapter, signal, attemptStats } = options;
    if (candidate.model.deployments.length === 0) reasons.skipped(noEndpoints());
    const lastAttempt = attemptStats.attempts + 1 + candidate.model.routing.retries;
    let turn = this.#loadBalancer.order(candidate, adapter.affinity);
    for (let round = 0; turn.length > 0; round += 1) {
      const isExhausted = () => round > 0 && attemptStats.attempts >= lastAttempt;
      if (isExhausted()) return undefined;
      if (round > 0) await sleep(backoffDelay(round, RETRY), signal);
      const again: Deployment[] = [];
      for (const deployment of turn) {
        if (isExhausted()) return undefined;
        const routed = await this.#tryDeployment(candidate, deployment, options, budget, reasons);
        if (routed !== undefined) return routed;
        if (reasons.next === "larger-window") return undefined;
        if (reasons.next === "same-deployment") again.push(deployment);
      }
      turn = again;
    }
    return undefined;
  }

  /** Resolves with undefined and notes the reason when another deployment may answer. */
  async #tryDeployment<Opened extends Model, Event>(
    candidate: ResolvedModel,
    deployment: Deployment,
    options: RouteOptions<Opened, Event>,
    budget: RetryBudget,
    reasons: Reasons,
  ): Promise<Routed<Opened, Event> | undefined> {
    using _hold = deployment.hold();
    reasons.next = "other-deployment";
    const mayLoad = deployment.awaitsLoad && refusalOf(deployment, candidate) === undefined;
    if (mayLoad && !(await load(deployment, options, reasons))) return undefined;
    const opened = eligibleModel(candidate, deployment, options.adapter, reasons);
    if (opened === undefined) return undefined;
    const before = options.attemptStats.attempts;
    const isRetry = before > reasons.attemptsBefore;
    if (isRetry && !budget.spend()) throw reasons.toThrow();
    const occasion = reasons.tooLong === undefined ? {} : { occasion: "context_length" as const };
    const answered = await attempt(candidate, deployment, opened, options, this.#onAttempt);
    if (!(answered instanceof Fault)) {
      const charge = chargeOf(options.project, candidate, deployment);
      return { id: candidate.id, charge, deployment, ...occasion, opened, events: answered };
    }
    if (isTooLong(answered)) {
      reasons.exceeds(answered, opened, options.attemptStats.attempts);
      reasons.next = "larger-window";
    } else if (options.attemptStats.attempts === before) {
      if (isRetry) budget.giveBack();
      reasons.skipped(answered);
    } else {
      reasons.attempt = answered;
      const mayAgain = AGAIN.has(answered.kind) && refusalOf(deployment, candidate) === undefined;
      if (mayAgain) reasons.next = "same-deployment";
    }
    return undefined;
  }

  /**
   * The model with the deployments that have joined since the request began: all earlier ones may have left, with their
   * pool or with a reload of the configuration.
   */
  #joined(candidate: ResolvedModel, tried: ReadonlySet<Deployment>): ResolvedModel | undefined {
    const current = this.#find(candidate.id)?.model.deployments ?? [];
    const deployments = current.filter((each) => each.task === candidate.model.task && !tried.has(each));
    return deployments.length === 0 ? undefined : { ...candidate, model: { ...candidate.model, deployments } };
  }

  #budgetOf(model: string): RetryBudget {
    const existing = this.#budgets.get(model);
    if (existing !== undefined) return existing;
    const budget = new RetryBudget();
    this.#budgets.set(model, budget);
    return budget;
  }
}

/** Returns whether the model has been loaded, and adds the stage. */
async function load<Opened extends Model, Event>(
  deployment: Deployment,
  { adapter, signal, attemptStats }: RouteOptions<Opened, Event>,
  reasons: Reasons,
): Promise<boolean> {
  const beganAt = performance.now();
  const isLoaded = await waitFor(hasLoaded(deployment, signal, reasons), "loading", adapter);
  const durationMs = performance.now() - beganAt;
  const stage = { kind: "load", deployment: deployment.entry, beganAt, durationMs } as const;
  attemptStats.stages ??= [];
  attemptStats.stages.push(isLoaded ? stage : { ...stage, failure: reasons.toThrow() });
  return isLoaded;
}

function refusalOf({ circuits, entry }: Deployment, { id }: ResolvedModel): Fault | undefined {
  return circuits.of(id).refusal(entry);
}

/** Fault without the reason, which names the operator's files and servers. */
function noEndpoints(): Fault {
  const message = "This model has no endpoints at the moment. See the service log for the cause.";
  return unavailable(message, "no_endpoints", 5);
}

/** Waits for the model to be loaded; otherwise adds the reason to `reasons`. */
async function hasLoaded(deployment: Deployment, signal: AbortSignal, reasons: Reasons): Promise<boolean> {
  try {
    await deployment.load(signal);
    return true;
  } catch (failure) {
    if (signal.aborted || !(failure instanceof Fault)) throw failure;
    reasons.skipped(failure);
    return false;
  }
}

/** Returns the deployment's model if it can take the request now; otherwise adds the reason to `reasons`. */
function eligibleModel<Opened extends Model, Event>(
  candidate: ResolvedModel,
  deployment: Deployment,
  adapter: TaskAdapter<Opened, Event>,
  reasons: Reasons,
): Opened | undefined {
  const resting = refusalOf(deployment, candidate);
  if (resting !== undefined) {
    reasons.skipped(resting);
    return undefined;
  }
  let opened: Opened;
  try {
    opened = deployment.model() as Opened;
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    reasons.skipped(failure);
    return undefined;
  }
  if (opened.task !== adapter.task) throw new Error(`${deployment.name} performs ${opened.task}, not ${adapter.task}`);
  if (reasons.isSmaller(opened)) return undefined;
  const cannot = adapter.refusal(opened, candidate.id);
  reasons.cannot ??= cannot;
  return cannot === undefined ? opened : undefined;
}

/** Reasons that a request has not been answered yet. */
class Reasons {
  /** Failure of the last attempt. */
  attempt: Fault | undefined;
  /** What may avoid the failure of the last deployment; `same-deployment`: or another one. */
  next: "other-deployment" | "same-deployment" | "larger-window" = "other-deployment";
  /** Fault of a deployment that does not support the request. */
  cannot: Fault | undefined;
  /** Fault of the first model whose context window the prompt exceeds. */
  tooLong: Fault | undefined;
  /** Attempts that the last refusal for length has made up for: the next one, at a larger window, is no retry. */
  attemptsBefore = 0;
  /** Largest window that the prompt exceeds, where it is known. */
  #exceededWindow = 0;
  /** Fault of the unavailable deployment that recovers first. */
  #unready: Fault | undefined;

  /** Whether the candidate is for a request with these reasons. */
  admit({ occasion }: ResolvedModel): boolean {
    return this.tooLong === undefined ? occasion !== "context_length" : occasion !== undefined;
  }

  exceeds(fault: Fault, opened: Model, attempts: number): void {
    this.tooLong ??= fault;
    this.attemptsBefore = attempts;
    if (opened.task === "chat") this.#exceededWindow = Math.max(this.#exceededWindow, opened.contextWindow ?? 0);
  }

  /** Whether the model's window is not larger than one that the prompt exceeds. */
  isSmaller(opened: Model): boolean {
    return opened.task === "chat" && opened.contextWindow !== undefined && opened.contextWindow <= this.#exceededWindow;
  }

  skipped(fault: Fault): void {
    const wait = (each: Fault | undefined) => each?.retryAfterSeconds ?? Number.POSITIVE_INFINITY;
    if (this.#unready === undefined || wait(fault) < wait(this.#unready)) this.#unready = fault;
  }

  /** Selects the most useful Fault: an unavailable deployment that supports the request precedes one that does not. */
  toThrow(): Error {
    return this.tooLong ?? this.attempt ?? this.#unready ?? this.cannot ?? new Error("A model without a deployment");
  }
}
