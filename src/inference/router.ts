/** Chooses the deployment that answers: the first in order that can, then the model's fallbacks. */

import type { Model } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import type { Found } from "./catalog.ts";
import type { Deployment } from "./deployment.ts";
import { readAhead } from "./read-ahead.ts";
import type { Work } from "./work.ts";

export interface Routed<Opened extends Model, Event> {
  /** The catalog id that answers: the one asked for, or a fallback's. */
  id: string;
  deployment: Deployment;
  opened: Opened;
  /** Begins with the event that was waited for; empty when the answer is. */
  events: AsyncIterable<Event>;
}

/**
 * Waits for the first event of the first deployment that gives one. Throws a Fault: what the request itself caused at
 * once, otherwise, when every attempt failed, the last attempt's.
 */
export async function route<Opened extends Model, Event>(
  candidates: readonly Found[],
  work: Work<Opened, Event>,
  signal: AbortSignal,
): Promise<Routed<Opened, Event>> {
  let refusal: Fault | undefined;
  let failure: unknown;
  for (const { id, model } of candidates) {
    for (const deployment of model.deployments) {
      try {
        const opened = deployment.model() as Opened;
        if (opened.task !== work.task) throw new Error(`${deployment.name} performs ${opened.task}, not ${work.task}`);
        const cannot = work.refusal(opened);
        if (cannot === undefined) return await attempt(deployment, opened, id, work, signal);
        refusal ??= cannot;
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        if (!(thrown instanceof Fault && ELSEWHERE.has(thrown.kind))) throw thrown;
        failure = thrown;
      }
    }
  }
  // A deployment that could have honoured the request but is not well says more than one that cannot honour it.
  throw failure ?? refusal ?? new Error("A model without a deployment");
}

/** What another deployment may not meet. */
const ELSEWHERE: ReadonlySet<Fault["kind"]> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
]);

async function attempt<Opened extends Model, Event>(
  deployment: Deployment,
  opened: Opened,
  id: string,
  work: Work<Opened, Event>,
  signal: AbortSignal,
): Promise<Routed<Opened, Event>> {
  const leave = await deployment.enter(signal);
  const answered = untilEnd(work.begin(opened, id, signal), leave);
  const events = work.isReadAhead(opened) ? readAhead(answered) : answered;
  const first = await events.next();
  if (first.done && signal.aborted) throw signal.reason;
  return { id, deployment, opened, events: first.done ? events : prepend(first.value, events) };
}

async function* untilEnd<Event>(events: AsyncIterable<Event>, leave: () => void): AsyncGenerator<Event> {
  try {
    yield* events;
  } finally {
    leave();
  }
}

async function* prepend<Event>(first: Event, rest: AsyncIterator<Event>): AsyncGenerator<Event> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
