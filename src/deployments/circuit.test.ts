import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { Fault, type FaultKind, invalidRequest, unavailable } from "../kernel/faults.ts";
import { Circuit, VERDICTS } from "./circuit.ts";

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

test("stays closed while failures are not consecutive", async () => {
  const circuit = new Circuit(settings);
  await attempts(circuit, broken(), broken(), undefined, broken(), broken(), undefined);
  expect(circuit.state).toBe("closed");
  expect(circuit.refusal("a")).toBeUndefined();
});

test("opens after the configured number of consecutive failures, and reports when to retry", async () => {
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

test("ignores failures caused by the request, this service's limits or a disconnect", async () => {
  const circuit = new Circuit(settings);
  const busy = unavailable("Too many connections are open here.", "server_is_overloaded", 1);
  for (let round = 0; round < 10; round += 1) await attempts(circuit, invalidRequest("No."), left, busy);
  expect(circuit.state).toBe("closed");
});

const COUNTED_KINDS = [
  "unavailable",
  "upstream-failed",
  "upstream-refused",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
];

test.each(Object.keys(VERDICTS) as FaultKind[])(
  "counts %s only if it speaks of the deployment's health",
  async (kind) => {
    const circuit = new Circuit(settings);
    for (let round = 0; round < 3; round += 1) circuit.watch().ended(new Fault(kind, "It ended."));
    expect(circuit.state).toBe(COUNTED_KINDS.includes(kind) ? "open" : "closed");
  },
);

test("does not count a pause within an answer, nor a bug of the service", async () => {
  const circuit = new Circuit(settings);
  const idle = new Fault("upstream-timeout", "Nothing for 30 seconds.");
  await attempts(circuit, idle, idle, idle);
  for (let round = 0; round < 3; round += 1) circuit.watch().ended(new RangeError("Invalid array length"));
  expect(circuit.state).toBe("closed");
});

test("lets one probe through after the cooldown, which closes it once the answer has begun", async () => {
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

test("lets the next request probe at once when the probe's client disconnected", async () => {
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

test("obeys an upstream's Retry-After after a single failure", async () => {
  const circuit = new Circuit(settings);
  const limited = new Fault("request-rate-limited", "Slow down.", {
    code: "rate_limit_exceeded",
    retryAfterSeconds: 7,
  });
  await attempts(circuit, limited);
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "request-rate-limited", retryAfterSeconds: 7 });
});

test("obeys the longest of several Retry-Afters", async () => {
  const circuit = new Circuit(settings);
  const limited = (retryAfterSeconds: number) => new Fault("request-rate-limited", "Slow down.", { retryAfterSeconds });
  await attempts(circuit, limited(60), limited(1));
  expect(circuit.refusal("a")).toMatchObject({ retryAfterSeconds: 60 });
});

test("ignores the outcome of attempts that started before it opened", async () => {
  const circuit = new Circuit(settings);
  const late = [circuit.watch(), circuit.watch()];
  await attempts(circuit, broken(), broken(), broken());
  for (const watch of late) watch.ended(undefined);
  await pause(0);
  expect(circuit.state).toBe("open");
});

/** Creates a circuit whose probe returns the items of `found` in order, and then repeats the last. */
function probed(...found: (boolean | undefined)[]): { circuit: Circuit; asked: () => number } {
  let asked = 0;
  const circuit = new Circuit(settings, async () => {
    asked += 1;
    return found[Math.min(asked, found.length) - 1];
  });
  return { circuit, asked: () => asked };
}

test("closes after a successful probe, and lets no request through before", async () => {
  const { circuit, asked } = probed(false, false, true);
  await attempts(circuit, broken(), broken(), broken());
  while (circuit.state !== "closed") {
    expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable" });
    await pause(10);
  }
  expect(asked()).toBe(3);
  expect(circuit.refusal("a")).toBeUndefined();
});

test("opens again on the first failure after a probe, until a success", async () => {
  const { circuit } = probed(true);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.state).toBe("closed");
  await attempts(circuit, broken());
  expect(circuit.state).toBe("open");
  await expect.poll(() => circuit.state).toBe("closed");
  await attempts(circuit, undefined, broken());
  expect(circuit.state).toBe("closed");
});

test("probes with a request when the deployment has no probe", async () => {
  const { circuit } = probed(undefined);
  await attempts(circuit, broken(), broken(), broken());
  await expect.poll(() => circuit.refusal("a")).toBeUndefined();
  expect(circuit.state).toBe("open");
  await attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("sends no probe before the end of a Retry-After", async () => {
  const { circuit, asked } = probed(true);
  await attempts(circuit, broken(), broken(), broken({ retryAfterSeconds: 1 }));
  await pause(REST_SECONDS * 1000 * 2);
  expect([circuit.state, asked()]).toEqual(["open", 0]);
  await expect.poll(() => circuit.state, { timeout: 5000 }).toBe("closed");
  expect(asked()).toBe(1);
});

test("does not probe once closed, even when a late attempt fails", async () => {
  const { circuit, asked } = probed(false);
  const late = [circuit.watch(), circuit.watch(), circuit.watch()];
  circuit.stop();
  for (const watch of late) watch.ended(broken());
  await pause(REST_SECONDS * 1000 * 2);
  expect(asked()).toBe(0);
});
