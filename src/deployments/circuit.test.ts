import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Fault, type FaultKind, invalidRequest, unavailable } from "../kernel/faults.ts";
import { Circuit, VERDICTS } from "./circuit.ts";

const REST_SECONDS = 0.2;
const settings = { failures: 3, failureRate: 0.5, cooldownSeconds: REST_SECONDS };
const broken = (details = {}) => new Fault("upstream-failed", "It broke.", details);
const left = new Fault("client-left", "The client left.");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function attempts(circuit: Circuit, ...ends: (Fault | undefined)[]): void {
  for (const end of ends) {
    const watch = circuit.watch();
    watch.begun();
    watch.ended(end);
  }
}

/** Lets a cooldown pass, and what is due after it happen. */
async function cooldown(number = 1): Promise<void> {
  await vi.advanceTimersByTimeAsync(number * REST_SECONDS * 1000);
}

test("stays closed while failures are not consecutive", () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), undefined, broken(), broken(), undefined);
  expect(circuit.state).toBe("closed");
  expect(circuit.refusal("a")).toBeUndefined();
});

test("opens after the configured number of consecutive failures, and reports when to retry", () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken());
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable", code: "engine_failed", retryAfterSeconds: 1 });
});

test("opens by rate when failures come between successes", () => {
  const circuit = new Circuit({ ...settings, failures: 1000 });
  for (let round = 0; round < 10; round += 1) attempts(circuit, broken(), broken(), undefined);
  expect(circuit.state).toBe("open");
});

test("ignores failures caused by the request, this service's limits or a disconnect", () => {
  const circuit = new Circuit(settings);
  const busy = unavailable("Too many connections are open here.", "server_is_overloaded", 1);
  for (let round = 0; round < 10; round += 1) attempts(circuit, invalidRequest("No."), left, busy);
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

test.each(Object.keys(VERDICTS) as FaultKind[])("counts %s only if it speaks of the deployment's health", (kind) => {
  const circuit = new Circuit(settings);
  for (let round = 0; round < 3; round += 1) circuit.watch().ended(new Fault(kind, "It ended."));
  expect(circuit.state).toBe(COUNTED_KINDS.includes(kind) ? "open" : "closed");
});

test("does not count a limit that would refuse the request at any time", () => {
  const circuit = new Circuit(settings);
  const tooLarge = new Fault("token-rate-limited", "Limit 10, Requested 20.", { isFinal: true, retryAfterSeconds: 9 });
  attempts(circuit, tooLarge, tooLarge, tooLarge);
  expect(circuit.state).toBe("closed");
});

test("does not count a pause within an answer, nor a bug of the service", () => {
  const circuit = new Circuit(settings);
  const idle = new Fault("upstream-timeout", "Nothing for 30 seconds.");
  attempts(circuit, idle, idle, idle);
  for (let round = 0; round < 3; round += 1) circuit.watch().ended(new RangeError("Invalid array length"));
  expect(circuit.state).toBe("closed");
});

test("lets one probe through after the cooldown, which closes it once the answer has begun", async () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  const probe = circuit.watch();
  expect(circuit.state).toBe("half-open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable" });
  probe.begun();
  expect(circuit.state).toBe("closed");
  probe.ended(undefined);
});

test("opens again when the probe fails", async () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  circuit.watch().ended(broken());
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toBeDefined();
});

test("lets the next request probe at once when the probe's client disconnected", async () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  for (let round = 0; round < 10; round += 1) {
    circuit.watch().ended(left);
    expect([circuit.state, circuit.refusal("a")]).toEqual(["open", undefined]);
  }
  attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("lets another request probe when a probe hangs for as long as a cooldown", async () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  const hanging = circuit.watch();
  expect(circuit.refusal("a")).toBeDefined();
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
  hanging.ended(broken());
  expect(circuit.state).toBe("closed");
});

test("closes and ends pauses on time after the system clock was set back by a day", async () => {
  const circuit = new Circuit(settings);
  attempts(circuit, broken(), broken(), broken({ retryAfterSeconds: REST_SECONDS }));
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(circuit.refusal("a")).toMatchObject({ retryAfterSeconds: 1 });
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("obeys an upstream's Retry-After after a single failure", () => {
  const circuit = new Circuit(settings);
  const limited = new Fault("request-rate-limited", "Slow down.", {
    code: "rate_limit_exceeded",
    retryAfterSeconds: 7,
  });
  attempts(circuit, limited);
  expect(circuit.state).toBe("open");
  expect(circuit.refusal("a")).toMatchObject({ kind: "request-rate-limited", retryAfterSeconds: 7 });
});

test("obeys the longest of several Retry-Afters", () => {
  const circuit = new Circuit(settings);
  const limited = (retryAfterSeconds: number) => new Fault("request-rate-limited", "Slow down.", { retryAfterSeconds });
  attempts(circuit, limited(60), limited(1));
  expect(circuit.refusal("a")).toMatchObject({ retryAfterSeconds: 60 });
});

test("ignores the outcome of attempts that started before it opened", () => {
  const circuit = new Circuit(settings);
  const late = [circuit.watch(), circuit.watch()];
  attempts(circuit, broken(), broken(), broken());
  for (const watch of late) watch.ended(undefined);
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
  attempts(circuit, broken(), broken(), broken());
  for (let probes = 0; probes < 3; probes += 1) {
    expect([asked(), circuit.state]).toEqual([probes, "open"]);
    expect(circuit.refusal("a")).toMatchObject({ kind: "unavailable" });
    await cooldown();
  }
  expect([asked(), circuit.state]).toEqual([3, "closed"]);
  expect(circuit.refusal("a")).toBeUndefined();
});

test("opens again on the first failure after a probe, until a success", async () => {
  const { circuit } = probed(true);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.state).toBe("closed");
  attempts(circuit, broken());
  expect(circuit.state).toBe("open");
  await cooldown();
  expect(circuit.state).toBe("closed");
  attempts(circuit, undefined, broken());
  expect(circuit.state).toBe("closed");
});

test("probes with a request when the deployment has no probe", async () => {
  const { circuit } = probed(undefined);
  attempts(circuit, broken(), broken(), broken());
  await cooldown();
  expect(circuit.refusal("a")).toBeUndefined();
  expect(circuit.state).toBe("open");
  attempts(circuit, undefined);
  expect(circuit.state).toBe("closed");
});

test("sends no probe before the end of a Retry-After", async () => {
  const { circuit, asked } = probed(true);
  attempts(circuit, broken(), broken(), broken({ retryAfterSeconds: 1 }));
  await cooldown(2);
  expect([circuit.state, asked()]).toEqual(["open", 0]);
  await cooldown(3);
  expect([circuit.state, asked()]).toEqual(["closed", 1]);
});

test("does not probe once closed, even when a late attempt fails", async () => {
  const { circuit, asked } = probed(false);
  const late = [circuit.watch(), circuit.watch(), circuit.watch()];
  circuit.stop();
  for (const watch of late) watch.ended(broken());
  await cooldown(2);
  expect(asked()).toBe(0);
});
