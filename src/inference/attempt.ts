/** One attempt at one deployment, up to the first event of its answer. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import type { Model } from "../contracts/engine.ts";
import type { Charge } from "../contracts/price.ts";
import type { Circuit } from "../deployments/circuit.ts";
import type { Deployment } from "../deployments/deployment.ts";
import type { Deferral, Slot } from "../deployments/slots/slots.ts";
import { Fault, type FaultKind } from "../kernel/faults.ts";
import { genAiOperation } from "../observability/gen-ai-operation.ts";
import { currentSpan, type TraceSpan, within } from "../observability/trace.ts";
import type { TaskAdapter, WaitReason } from "./adapters/task-adapter.ts";
import { chargeOf } from "./charge.ts";
import { drainToBuffer } from "./drain-to-buffer.ts";
import { LifecycleIterator } from "./lifecycle-iterator.ts";
import { prepend } from "./prepend.ts";
import type { Stage } from "./stages.ts";

export interface AttemptMeasure {
  /** ID of the catalog's entry. */
  model: string;
  deployment: string;
  /** Result: `begun` once the answer has begun, otherwise the kind of failure. */
  outcome: "begun" | "bug" | FaultKind;
  /** Seconds spent waiting for a slot. */
  queuedSeconds: number;
}

/** Statistics of the attempts of one request. */
export interface AttemptStats {
  /** Number of attempts, including repeated ones at the same deployment. */
  attempts: number;
  /** Seconds spent waiting for slots in all attempts. */
  queuedSeconds: number;
  /** Loads that the request waited for and attempts that failed, in order; undefined without any. */
  stages?: Stage[];
  /** Span of the engine that answers, which ends with the answer. */
  engineSpan?: TraceSpan | undefined;
  /** Last attempt that cost something without an answer: it reported its usage, or was abandoned after it was sent. */
  spent?: {
    id: string;
    charge: Charge;
    deployment: Deployment;
    /** Reported usage; undefined if it was abandoned before reporting any. */
    used: Fault["used"];
  };
}

export interface AttemptOptions<Opened extends Model, Event> extends Deferral {
  adapter: TaskAdapter<Opened, Event>;
  /** Aborts all attempts. */
  signal: AbortSignal;
  /** Project whose turn in the queue the request takes. */
  project: string;
  /** Updated during the attempts, so it covers failed ones. */
  attemptStats: AttemptStats;
}

/** Kinds of failure that another deployment may not have. */
const ELSEWHERE: ReadonlySet<FaultKind> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-refused",
  "answer-unfit",
  "unsupported",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
]);

/**
 * Resolves with the answer's events once the first has arrived (none when the answer is empty), or with the Fault that
 * another attempt may avoid. Frees its slot or connection at the end of the events and when `signal` aborts. Throws any
 * other failure, and the signal's reason on abort. Calls `onAttempt` for an attempt that had a slot.
 */
export async function attempt<Opened extends Model, Event>(
  resolved: ResolvedModel,
  deployment: Deployment,
  opened: Opened,
  { adapter, signal, project, priority, preempt, attemptStats }: AttemptOptions<Opened, Event>,
  onAttempt: (measure: AttemptMeasure) => void,
): Promise<AsyncIterator<Event> | Fault> {
  const { id, model } = resolved;
  let queuedSeconds: number | undefined;
  let outcome: AttemptMeasure["outcome"] = "begun";
  let isSent = false;
  const beganAt = performance.now();
  const span = currentSpan()?.start("attempt", { attributes: { "parlance.deployment": deployment.name } });
  let engineSpan: TraceSpan | undefined;
  try {
    // A hostile schema takes seconds to compile, which would keep a slot from others.
    const preparing = adapter.prepare?.(opened, signal);
    if (preparing !== undefined) await preparing;
    const circuit = deployment.circuits.of(id);
    const askedAt = performance.now();
    const acquired = deployment.acquireSlot(signal, project, { priority, preempt });
    const slot = acquired instanceof Promise ? await waitInQueue(acquired, span, adapter) : acquired;
    refuseWhereBroken(deployment, circuit, slot);
    queuedSeconds = slot.waitedSeconds;
    attemptStats.attempts += 1;
    attemptStats.queuedSeconds += queuedSeconds;
    const watch = circuit.watch();
    engineSpan = span === undefined ? undefined : startEngineSpan(span, deployment, id);
    const begin = () => {
      const iterator = new LifecycleIterator(adapter.begin(opened, id, signal), signal, (failure) => {
        slot.release();
        watch.ended(failure);
      });
      return { source: iterator, events: adapter.drainsToBuffer(opened) ? drainToBuffer(iterator) : iterator };
    };
    const { source, events } = within(engineSpan, begin);
    isSent = true;
    const beginning = within(engineSpan, () => events.next());
    const first = await waitFor(
      beginning,
      adapter.isForwarded?.(opened) === true ? "forwarding" : "answering",
      adapter,
    );
    if (first.done && signal.aborted) throw signal.reason;
    watch.begun();
    attemptStats.engineSpan = engineSpan;
    deployment.latency.measure((performance.now() - askedAt) / 1000);
    if (events !== source) return first.done ? events : prepend(first.value, events);
    source.putBack(first);
    return source;
  } catch (thrown) {
    const failure = signal.aborted ? signal.reason : thrown;
    outcome = failure instanceof Fault ? failure.kind : "bug";
    const durationMs = performance.now() - beganAt;
    const queuedMs = 1000 * (queuedSeconds ?? durationMs / 1000);
    const stage = { kind: "attempt", deployment: deployment.entry, beganAt, durationMs, queuedMs, failure } as const;
    attemptStats.stages ??= [];
    attemptStats.stages.push(stage);
    engineSpan?.end({}, failure, adapter.content?.());
    const used = failure instanceof Fault ? failure.used : undefined;
    if (used !== undefined || (signal.aborted && isSent)) {
      const charge = chargeOf(project, resolved, deployment);
      // Under a wildcard, only names that were answered are recorded: callers could fill the database with others.
      attemptStats.spent = { id: used === undefined ? model.id : id, charge, deployment, used };
    }
    if (signal.aborted || !isElsewhere(failure)) throw failure;
    return failure;
  } finally {
    span?.end({ "parlance.outcome": outcome });
    if (queuedSeconds !== undefined)
      onAttempt({ model: model.id, deployment: deployment.name, outcome, queuedSeconds });
  }
}

function isElsewhere(failure: unknown): failure is Fault {
  return failure instanceof Fault && (ELSEWHERE.has(failure.kind) || isTooLong(failure));
}

/** Whether the prompt does not fit the context window, which that of another model may hold. */
export function isTooLong({ code }: Fault): boolean {
  return code === "context_length_exceeded";
}

function waitInQueue(
  acquired: Promise<Slot>,
  span: TraceSpan | undefined,
  adapter: Parameters<typeof waitFor>[2],
): Promise<Slot> {
  const waiting = waitFor(acquired, "queued", adapter);
  if (span === undefined) return waiting;
  const queue = span.start("queue");
  return waiting.finally(() => queue.end());
}

/** `gen_ai`: OpenTelemetry's semantic conventions for generative AI. */
function startEngineSpan(span: TraceSpan, deployment: Deployment, model: string): TraceSpan {
  const operation = genAiOperation(deployment.task);
  const attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": deployment.engine,
    "gen_ai.request.model": model,
    "parlance.deployment": deployment.name,
  };
  return span.start(`${operation} ${model}`, { kind: deployment.isUpstream ? "client" : "internal", attributes });
}

/** Reports the wait to the request's adapter. */
export async function waitFor<Result>(
  awaited: Promise<Result>,
  reason: WaitReason,
  { onWait }: { onWait?: ((reason: WaitReason | undefined) => void) | undefined },
): Promise<Result> {
  onWait?.(reason);
  try {
    return await awaited;
  } finally {
    onWait?.(undefined);
  }
}

/** Throws a Fault if the circuit has opened while the request waited for its slot. */
function refuseWhereBroken({ entry }: Deployment, circuit: Circuit, slot: Slot): void {
  const refusal = circuit.refusal(entry);
  if (refusal === undefined) return;
  slot.release();
  throw refusal;
}
