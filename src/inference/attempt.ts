/** One attempt at one deployment, up to the first event of its answer. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import type { Model } from "../engines/engine.ts";
import { Fault, type FaultKind } from "../faults.ts";
import type { Circuit } from "./circuit.ts";
import type { Deployment } from "./deployment.ts";
import { drainToBuffer } from "./drain-to-buffer.ts";
import { LifecycleIterator } from "./lifecycle-iterator.ts";
import { prepend } from "./prepend.ts";
import type { Slot } from "./slots.ts";
import type { TaskAdapter } from "./task-adapters.ts";

export interface AttemptMeasure {
  /** The catalog's entry. */
  model: string;
  deployment: string;
  /** `begun`: it has begun to answer; otherwise why it did not. */
  outcome: "begun" | "bug" | FaultKind;
  /** Spent waiting for a slot. */
  queuedSeconds: number;
}

/** Statistics of the attempts of one request. */
export interface AttemptStats {
  /** Deployments that were asked, counting one again when it was asked again. */
  attempts: number;
  /** Spent waiting for slots, in all attempts. */
  queuedSeconds: number;
  /** The last attempt that was charged for without an answer: it reported its usage, or was abandoned once sent. */
  spent?: {
    id: string;
    price: ResolvedModel["model"]["price"];
    deployment: Deployment;
    /** Undefined: it was abandoned before it reported any. */
    used: Fault["used"];
  };
}

export interface AttemptOptions<Opened extends Model, Event> {
  adapter: TaskAdapter<Opened, Event>;
  /** Bounds all attempts together. */
  signal: AbortSignal;
  /** Whose turn it is when requests have to wait. */
  project: string;
  /** Updated during the attempts, so it covers failed ones. */
  attemptStats: AttemptStats;
}

/** What another deployment may not meet. */
const ELSEWHERE: ReadonlySet<FaultKind> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-refused",
  "answer-unfit",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
]);

/**
 * Resolves with the answer's events, the first of which has come, none when the answer is empty; or with the Fault that
 * another attempt may not meet. Whatever holds a slot or a connection is freed at the end of the events and when `signal`
 * aborts. Throws any other failure, and the signal's reason on abort. `onAttempt` is called for an attempt
 * that had a slot.
 */
export async function attempt<Opened extends Model, Event>(
  { id, model }: ResolvedModel,
  deployment: Deployment,
  opened: Opened,
  { adapter, signal, project, attemptStats }: AttemptOptions<Opened, Event>,
  onAttempt: (measure: AttemptMeasure) => void,
): Promise<AsyncIterator<Event> | Fault> {
  let queuedSeconds: number | undefined;
  let outcome: AttemptMeasure["outcome"] = "begun";
  let isSent = false;
  try {
    // A hostile schema takes seconds to compile, which would keep a slot from others.
    const preparing = adapter.prepare?.(opened, signal);
    if (preparing !== undefined) await preparing;
    const circuit = deployment.circuits.of(id);
    const askedAt = performance.now();
    const acquired = deployment.acquireSlot(signal, project);
    const slot = acquired instanceof Promise ? await acquired : acquired;
    refuseWhereBroken(deployment, circuit, slot);
    queuedSeconds = slot.waitedSeconds;
    attemptStats.attempts += 1;
    attemptStats.queuedSeconds += queuedSeconds;
    const watch = circuit.watch();
    const source = new LifecycleIterator(adapter.begin(opened, id, signal), signal, (failure) => {
      slot.release();
      watch.ended(failure);
    });
    isSent = true;
    const events = adapter.drainsToBuffer(opened) ? drainToBuffer(source) : source;
    const first = await events.next();
    if (first.done && signal.aborted) throw signal.reason;
    watch.begun();
    deployment.latency.measure((performance.now() - askedAt) / 1000);
    if (events !== source) return first.done ? events : prepend(first.value, events);
    source.putBack(first);
    return source;
  } catch (thrown) {
    const failure = signal.aborted ? signal.reason : thrown;
    outcome = failure instanceof Fault ? failure.kind : "bug";
    if (failure instanceof Fault && failure.used !== undefined) {
      attemptStats.spent = { id, price: model.price, deployment, used: failure.used };
    } else if (signal.aborted && isSent) {
      // Under a wildcard, only names that were answered are recorded: callers could fill the database with others.
      attemptStats.spent = { id: model.id, price: model.price, deployment, used: undefined };
    }
    if (signal.aborted || !(failure instanceof Fault && ELSEWHERE.has(failure.kind))) throw failure;
    return failure;
  } finally {
    if (queuedSeconds !== undefined)
      onAttempt({ model: model.id, deployment: deployment.name, outcome, queuedSeconds });
  }
}

/** While it waited for its slot, others may have found that the deployment fails. */
function refuseWhereBroken({ name }: Deployment, circuit: Circuit, slot: Slot): void {
  const refusal = circuit.refusal(name);
  if (refusal === undefined) return;
  slot.release();
  throw refusal;
}
