import { expect, test } from "vitest";
import { Fault } from "../kernel/faults.ts";
import { Circuits } from "./circuits.ts";

const settings = { failures: 5, failureRate: 0.5, cooldownSeconds: 60 };
const newCircuits = () => new Circuits(settings, async () => undefined);
const broken = new Fault("upstream-refused", "There is no such model.");

test("opens the circuits of five bad names and leaves the others closed", () => {
  const circuits = newCircuits();
  for (let name = 0; name < 5; name += 1) {
    for (let round = 0; round < 5; round += 1) circuits.of(`all/bad-${name}`).watch().ended(broken);
  }
  expect(circuits.of("all/bad-0").refusal("all")).toBeDefined();
  expect(circuits.of("all/good").refusal("all")).toBeUndefined();
  expect(circuits.state).toBe("closed");
});

test("pauses only the name whose upstream model asked for it", () => {
  const circuits = newCircuits();
  const limited = new Fault("request-rate-limited", "Slow down.", { retryAfterSeconds: 120 });
  circuits.of("all/busy").watch().ended(limited);
  expect(circuits.of("all/busy").refusal("all")).toMatchObject({ retryAfterSeconds: 120 });
  expect(circuits.of("all/good").refusal("all")).toBeUndefined();
});

test("reports open when every name is open", () => {
  const circuits = newCircuits();
  expect(circuits.state).toBe("closed");
  for (let round = 0; round < 5; round += 1) circuits.of("one").watch().ended(broken);
  expect(circuits.state).toBe("open");
});

test("evicts the least recently requested names", () => {
  const circuits = newCircuits();
  for (let round = 0; round < 5; round += 1) circuits.of("first").watch().ended(broken);
  for (let name = 0; name < 1000; name += 1) circuits.of(`all/${name}`);
  expect(circuits.of("first").state).toBe("closed");
});
