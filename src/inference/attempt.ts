/** One try at one deployment, up to the first event of its answer. */

import type { Model } from "../engines/engine.ts";
import type { Deployment } from "./deployment.ts";
import { prepend } from "./prepend.ts";
import { readAhead } from "./read-ahead.ts";
import { WatchedEvents } from "./watched-events.ts";
import type { Work } from "./work.ts";

export interface AttemptOptions<Opened extends Model, Event> {
  deployment: Deployment;
  opened: Opened;
  /** The catalog id to answer as. */
  id: string;
  work: Work<Opened, Event>;
  signal: AbortSignal;
  /** Whose turn it is when requests have to wait. */
  project: string;
  /** Told when the deployment has a slot for it, before it is asked. */
  onEntered: (waitedSeconds: number) => void;
}

/**
 * Resolves with the answer's events, the first of which has come; none when the answer is empty. Whatever holds a slot
 * or a connection is freed at the end of the events and when `signal` aborts. Throws what the deployment throws, and
 * the signal's reason once that has aborted.
 */
export async function attempt<Opened extends Model, Event>(
  options: AttemptOptions<Opened, Event>,
): Promise<AsyncIterable<Event>> {
  const { deployment, opened, id, work, signal, project, onEntered } = options;
  const askedAt = performance.now();
  const entered = deployment.enter(signal, project);
  const slot = entered instanceof Promise ? await entered : entered;
  const { circuit } = deployment;
  const refusal = circuit.refusal(deployment.name);
  if (refusal !== undefined) {
    slot.release();
    throw refusal;
  }
  onEntered(slot.waitedSeconds);
  const watch = circuit.watch();
  const end = (failure: unknown) => {
    slot.release();
    watch.ended(failure);
  };
  const source = new WatchedEvents(work.begin(opened, id, signal), signal, end);
  const events = work.isReadAhead(opened) ? readAhead(source) : source;
  const first = await events.next();
  if (first.done && signal.aborted) throw signal.reason;
  watch.begun();
  deployment.latency.measure((performance.now() - askedAt) / 1000);
  if (events !== source) return first.done ? events : prepend(first.value, events);
  source.putBack(first);
  return source;
}
