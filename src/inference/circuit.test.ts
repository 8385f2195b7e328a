import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { Fault, invalidRequest, unavailable } from "../faults.ts";
import { Circuit } from "./circuit.ts";

const REST_SECONDS = 0.2;
const settings = { failures: 3, failureRate: 0.5, cooldownSeconds: REST_SECONDS };
const broken = (details = {}) => new Fault("upstream-failed", "It broke.", details);
const left = new Fault("client-left", "The client left.");

async function attempts(circuit: Circuit, ...ends: (Fault | undefined)[]): Promise<void> {
  for (const end of ends) {
    const watch = circuit.watch();
    watch.begun();
    watch.ended(end);
    await pause(0);
  }
}

test("stays closed while failures are not in a row", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), undefined, broken(), broken(), undefined);
  expect(circuit.state).toBe("closed");
  expect(circuit.refusal("a")).toBeUndefined();
});

test("opens after as many failures in a row as configured, and says when to come again", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken());
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable", code: "engine_failed", retryAfterSeconds: 1 });
});

test("opens by rate when failures come between successes", async () => {
  const circuit = new Circuit({ ...settings, failures: 1000 });
  for (let round = 0; round < 10; round += 1) await attempts(circuit, broken(), broken(), undefined);
  expect(circuit.state).toBe("open");
});

test("what the request or this service's own limits caused, and a client that left, do not count", async () => {
  const circuit = new Circuit(settings);
  const busy = unavailable("Too many connections are open here.", "server_is_overloaded", 1);
  for (let round = 0; round < 10; round += 1) await attempts(circuit, invalidRequest("No."), left, busy);
  expect(circuit.state).toBe("closed");
});

test("lets one probe through after its rest, which closes it as soon as the answer has begun", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  const probe = circuit.watch();
  expect(circuit.state).toBe("half-open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable" });
  probe.begun();
  await pause(0);
  expect(circuit.state).toBe("closed");
  probe.ended(undefined);
});

test("opens again when the probe fails", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  circuit.watch().ended(broken());
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toBeDefined();
});

test("lets the next request probe at once when the probe's client left", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  for (let round = 0; round < 10; round += 1) {
    circuit.watch().ended(left);
    expect([circuit.state, circuit.refusal("a")]).toEqual(["open", undefined]);
  }
  await attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("lets another request probe when a probe hangs for as long as a cooldown", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  const hanging = circuit.watch();
  expect(circuit.refusal("a")).toBeDefined();
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  await attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
  hanging.ended(broken());
  expect(circuit.state).toBe("closed");
});

test("closes and ends pauses on time after the system clock was set back by a day", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), broken({ retryAfterSeconds: REST_SECONDS }));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 86_400_000 });
  try {
    expect(circuit.refusal("a")).toMatchObject({ retryAfterSeconds: 1 });
    await expect.poll(() => circuit.refusal("a")).toBeUndefined();
    await attempts(circuit, undefined);
    expect(circuit.state).toBe("closed");
  } finally {
    vi.useRealTimers();
  }
});

test("obeys the Retry-After of an upstream, one failure being enough", async () => {
  const circuit = new Circuit(settings);
  const limited = new Fault("request-rate-limited", "Slow down.", {
    code: "rate_limit_exceeded",
    retryAfterSeconds: 7,
  });
  await attempts(circuit, limited);
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "request-rate-limited", retryAfterSeconds: 7 });
});

test("of several Retry-Afters the one that asks for most is obeyed", async () => {
  const circuit = new Circuit(settings);
  const limited = (retryAfterSeconds: number) => new Fault("request-rate-limited", "Slow down.", { retryAfterSeconds });
  await attempts(circuit, limited(60), limited(1));
  expect(circuit.refusal("a")).toMatchObject({ retryAfterSeconds: 60 });
});

test("attempts that were on their way when it opened change nothing", async () => {
  const circuit = new Circuit(settings);
  const late = [circuit.watch(), circuit.watch()];
  await attempts(circuit, broken(), broken(), broken());
  for (const watch of late) watch.ended(undefined);
  await pause(0);
  expect(circuit.state).toBe("open");
});

/** Its probe finds what `found` holds, one after the other, the last for ever. */
function probed(...found: (boolean | undefined)[]): { circuit: Circuit; asked: () => number } {
  let asked = 0;
  const circuit = new Circuit(settings, async () => {
    asked += 1;
    return found[Math.min(asked, found.length) - 1];
  });
  return { circuit, asked: () => asked };
}

test("a probe closes it without any request, and none is let through before", async () => {
  const { circuit, asked } = probed(false, false, true);
  await attempts(circuit, broken(), broken(), broken());
  while (circuit.state !== "closed") {
    expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable" });
    await pause(10);
  }
  expect(asked()).toBe(3);
  expect(circuit.refusal("a")).toBeUndefined();
});

test("after a probe the first failure opens it again, and a success ends the trial", async () => {
  const { circuit } = probed(true);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.state).toBe("closed");
  await attempts(circuit, broken());
  expect(circuit.state).toBe("open");
  await expect.poll(() => circuit.state).toBe("closed");
  await attempts(circuit, undefined, broken());
  expect(circuit.state).toBe("closed");
});

test("a request probes where the deployment cannot be asked", async () => {
  const { circuit } = probed(undefined);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  expect(circuit.state).toBe("open");
  await attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("no probe is sent before the end of a Retry-After", async () => {
  const { circuit, asked } = probed(true);
  await attempts(circuit, broken(), broken(), broken({ retryAfterSeconds: 1 }));
  await pause(REST_SECONDS * 1000 * 2);
  expect([circuit.state, asked()]).toEqual(["open", 0]);
  await expect.poll(() => circuit.state, { timeout: 5000 }).toBe("closed");
  expect(asked()).toBe(1);
});

test("once closed it is not probed, also when an attempt fails after that", async () => {
  const { circuit, asked } = probed(false);
  const late = [circuit.watch(), circuit.watch(), circuit.watch()];
  circuit.stop();
  for (const watch of late) watch.ended(broken());
  await pause(REST_SECONDS * 1000 * 2);
  expect(asked()).toBe(0);
});
