import { expect, test } from "vitest";
import { Fault } from "../kernel/faults.ts";
import { LifecycleIterator } from "./lifecycle-iterator.ts";

const outOfTime = new Fault("upstream-timeout", "The answer was not finished in time.");

/** Yields one event, then nothing until the signal aborts. */
async function* source(signal: AbortSignal) {
  yield "first";
  await new Promise((resume) => signal.addEventListener("abort", resume, { once: true }));
}

function watched() {
  const deadline = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const events = new LifecycleIterator(source(deadline.signal), deadline.signal, resolve);
  return { events, ended, passDeadline: () => deadline.abort(outOfTime) };
}

test("reports a deadline that passes while waiting for the next event", async () => {
  const { events, ended, passDeadline } = watched();
  await events.next();
  const waiting = events.next();
  passDeadline();
  expect(await ended).toBe(outOfTime);
  expect(await waiting).toMatchObject({ done: true });
});

test("does not blame the source for a deadline that passes while nobody reads", async () => {
  const { events, ended, passDeadline } = watched();
  await events.next();
  passDeadline();
  expect(await ended).toMatchObject({ kind: "client-left" });
});
