import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model } from "../../contracts/engine.ts";
import { Fault } from "../../kernel/faults.ts";
import { Deployment } from "../deployment.ts";
import type { DeploymentOptions } from "../deployment-options.ts";
import { DEFAULT_ROUTING_OPTIONS, type RoutingOptions } from "../routing-options.ts";
import { GPU_MEMORY, MemoryBudget } from "./memory-budget.ts";

const { signal } = new AbortController();

function openedModel(): Model {
  return { task: "chat", slots: 1, device: "cpu", health: () => ({ state: "up" }), close: async () => {} } as never;
}

function makeDeployment(
  routingOptions: Partial<RoutingOptions>,
  { open = async () => openedModel(), ...options }: Partial<DeploymentOptions> = {},
): Deployment {
  return new Deployment({
    name: "one",
    engine: "llama-cpp",
    isUpstream: false,
    task: "chat",
    routingOptions: { ...DEFAULT_ROUTING_OPTIONS, load: "on_demand", ...routingOptions },
    open,
    onOpenFailure: () => {},
    ...options,
  });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("loads a model again on request, once the backoff after a failed load has passed", async () => {
  let isBroken = true;
  let attempts = 0;
  const deployment = makeDeployment(
    {},
    {
      open: async () => {
        attempts += 1;
        if (isBroken) throw new Fault("unavailable", "Its file is missing.");
        return openedModel();
      },
    },
  );
  deployment.start();
  await expect(deployment.load(signal)).rejects.toMatchObject({ code: "engine_failed" });
  expect(deployment.state).toMatchObject({ state: "failed", reason: "Its file is missing." });
  expect(deployment.awaitsLoad).toBe(false);
  await expect(deployment.load(signal)).rejects.toMatchObject({ code: "engine_failed" });
  expect(attempts).toBe(1);
  isBroken = false;
  vi.advanceTimersByTime(20_000);
  expect(deployment.awaitsLoad).toBe(true);
  await deployment.load(signal);
  expect(deployment.isUp).toBe(true);
});

test("loads a model again that was loaded at the start and unloaded when idle", async () => {
  const deployment = makeDeployment({ load: "start", unloadAfterSeconds: 5 });
  deployment.start();
  expect(deployment.awaitsLoad).toBe(false);
  await deployment.load(signal);
  await vi.advanceTimersByTimeAsync(6000);
  expect(deployment.state.state).toBe("unloaded");
  expect(deployment.awaitsLoad).toBe(true);
  await deployment.load(signal);
  expect(deployment.isUp).toBe(true);
});

test("leaves a model unloaded when a reload starts the deployments again", async () => {
  let attempts = 0;
  const open = async () => {
    attempts += 1;
    return openedModel();
  };
  const deployment = makeDeployment({ load: "start" }, { open });
  deployment.start();
  await deployment.load(signal);
  await deployment.unload();
  deployment.start();
  await vi.advanceTimersByTimeAsync(1000);
  expect(deployment.state.state).toBe("unloaded");
  expect(attempts).toBe(1);
});

test("unloads an idle model when a reload sets a time for it", async () => {
  const deployment = makeDeployment({});
  await deployment.load(signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(deployment.isUp).toBe(true);
  deployment.routingOptions = { ...deployment.routingOptions, unloadAfterSeconds: 5 };
  await vi.advanceTimersByTimeAsync(1);
  expect(deployment.state.state).toBe("unloaded");
});

test("refuses a model loaded at the start whose files exceed the memory budget", async () => {
  const deployment = makeDeployment(
    { load: "start" },
    { memory: new MemoryBudget(500e6), prepare: async () => ({ fileBytes: 1e9, contextBytes: 0 }) },
  );
  await expect(deployment.load(signal)).rejects.toMatchObject({ code: "insufficient_memory" });
});

test("counts what contexts take before the first load", async () => {
  const open = (contextBytes: number) =>
    makeDeployment(
      {},
      { memory: new MemoryBudget(500e6), prepare: async () => ({ fileBytes: 100e6, contextBytes }) },
    ).load(signal);
  await open(190e6);
  await expect(open(210e6)).rejects.toMatchObject({ message: expect.stringContaining("needs about 510 MB") });
});

test("unloads an idle model when another one has grown beyond the budget", async () => {
  // Memory of this process, which is the only one whose size is known here.
  const memory = new MemoryBudget(Number.POSITIVE_INFINITY);
  const openedHere = () => ({ ...openedModel(), pid: process.pid }) as Model;
  const [idle, growing] = [
    makeDeployment({}, { memory }),
    makeDeployment({}, { memory, open: async () => openedHere() }),
  ];
  await idle.load(signal);
  await growing.load(signal);
  growing.hold()[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(idle.isUp).toBe(true);
  memory.limitBytes = 1;
  growing.hold()[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(1);
  expect([idle.isUp, growing.isUp]).toEqual([false, true]);
});

test("rejects an unload while the model is being loaded", async () => {
  const opening = Promise.withResolvers<Model>();
  const deployment = makeDeployment({}, { open: () => opening.promise });
  const loading = deployment.load(signal);
  await expect(deployment.unload()).rejects.toMatchObject({ kind: "conflict" });
  opening.resolve(openedModel());
  await loading;
  await deployment.unload();
  expect(deployment.state.state).toBe("unloaded");
});

test("retires only after the requests that hold it have ended", async () => {
  const opening = Promise.withResolvers<Model>();
  const deployment = makeDeployment({}, { open: () => opening.promise });
  const hold = deployment.hold();
  const loading = deployment.load(signal);
  const retired = deployment.retire();
  opening.resolve(openedModel());
  await loading;
  const slot = await deployment.acquireSlot(signal, "project");
  hold[Symbol.dispose]();
  vi.useRealTimers();
  // Longer than closing takes.
  await pause(10);
  expect(deployment.isUp).toBe(true);
  slot.release();
  await retired;
  expect(deployment.isUp).toBe(false);
});

test("counts memory of the GPU in a budget of its own, where the least recently used model gives way", async () => {
  const gpuMemory = new MemoryBudget(20e9, GPU_MEMORY);
  const onGpu = (name: string) =>
    makeDeployment(
      {},
      {
        name,
        open: async () => ({ ...openedModel(), device: "cuda", gpuBytes: 12e9 }),
        prepare: async () => ({ fileBytes: 5e9, contextBytes: 0 }),
        // Too little for the weights, which are on the GPU.
        memory: new MemoryBudget(2e9),
        gpuMemory,
        usesGpu: async () => true,
      },
    );
  const [first, second] = [onGpu("first"), onGpu("second")];
  await first.load(signal);
  expect(first.gpuBytes).toBe(12e9);
  expect(gpuMemory.usedBytes).toBe(12e9);
  await second.load(signal);
  // 12 GB and the estimate of 6 GB fit; the measured 24 GB do not.
  await expect.poll(() => gpuMemory.usedBytes).toBe(12e9);
  expect(first.gpuBytes).toBeUndefined();
  expect(second.gpuBytes).toBe(12e9);
  using _hold = second.hold();
  await expect(first.load(signal)).rejects.toMatchObject({
    code: "insufficient_memory",
    message: expect.stringMatching(/12000 MB of GPU memory.*local\.gpu_memory/),
  });
});
