import { expect, test } from "vitest";
import type { Model } from "../contracts/engine.ts";
import { Deployment } from "./deployment.ts";
import { DEFAULT_ROUTING_OPTIONS } from "./routing-options.ts";

test("retires only after the queued requests have been served", async () => {
  let isClosed = false;
  const opened = {
    task: "chat",
    slots: 1,
    device: "cpu",
    health: () => ({ state: "up" }),
    close: async () => {
      isClosed = true;
    },
  } as unknown as Model;
  const deployment = new Deployment({
    name: "one",
    engine: "scripted",
    isUpstream: false,
    task: "chat",
    routingOptions: DEFAULT_ROUTING_OPTIONS,
    open: async () => opened,
    onOpenFailure: () => {},
  });
  deployment.start();
  const { signal } = new AbortController();
  await deployment.opened(signal);
  const first = await deployment.acquireSlot(signal, "project");
  const leaving = new AbortController();
  const impatient = Promise.resolve(deployment.acquireSlot(leaving.signal, "project")).catch(
    (reason: unknown) => reason,
  );
  const waiting = deployment.acquireSlot(signal, "project");
  const retired = deployment.retire();
  leaving.abort("left");
  expect(await impatient).toBe("left");
  first.release();
  const second = await waiting;
  // Longer than closing takes.
  await new Promise((resume) => setTimeout(resume, 10));
  expect(isClosed).toBe(false);
  second.release();
  await retired;
  expect(isClosed).toBe(true);
});
