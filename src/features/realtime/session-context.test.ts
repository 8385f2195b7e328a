import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "./session-context.ts";

test("leaves nothing on the signal after the end of an inference", async () => {
  const session = new AbortController();
  const listeners = () => getEventListeners(session.signal, "abort").length;
  const answer = untilAborted(session.signal, async (onDisconnect) => {
    onDisconnect(() => {});
    return listeners();
  });
  expect(await answer).toBe(1);
  expect(listeners()).toBe(0);
  const failing = untilAborted(session.signal, async (onDisconnect) => {
    onDisconnect(() => {});
    throw new Error("failed");
  });
  await expect(failing).rejects.toThrow("failed");
  expect(listeners()).toBe(0);
});

test("disconnects from an inference when the signal aborts, at once if it has", async () => {
  const session = new AbortController();
  const left: string[] = [];
  await untilAborted(session.signal, async (onDisconnect) => {
    onDisconnect(() => left.push("running"));
    session.abort();
  });
  await untilAborted(session.signal, async (onDisconnect) => onDisconnect(() => left.push("late")));
  expect(left).toEqual(["running", "late"]);
});
