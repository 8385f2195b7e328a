/** Callers' errors and leaks over a thousand requests for each upstream fault. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { ask, FAULT_ROWS, type FaultRow, faultsConfig, metric, modelOf } from "../support/upstreams/routed-faults.ts";

const ROUNDS = 1000;
const AT_ONCE = 50;
const TIMEOUT_SECONDS = 1.5;
/** With a leak, the requests exceed this heap and end the process. */
const BOUNDED = { NODE_OPTIONS: "--max-old-space-size=160" };
const MEGABYTE = 1024 * 1024;

let upstream: FaultyUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  service = await startServiceProcess({ config: faultsConfig(upstream, TIMEOUT_SECONDS), environment: BOUNDED });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

interface Held {
  slots: number;
  queued: number;
  timers: number;
  sockets: number;
  megabytes: number;
}

async function held(): Promise<Held> {
  return {
    slots: await metric(service, "parlance_slots_in_use{"),
    queued: await metric(service, "parlance_queue_length{"),
    timers: await metric(service, "nodejs_active_resources{", 'type="Timeout"'),
    sockets: upstream.openSockets(),
    megabytes: Math.round((await metric(service, "process_resident_memory_bytes")) / MEGABYTE),
  };
}

async function rounds(row: FaultRow): Promise<{ asExpected: number; seconds: number[]; others: string[] }> {
  const seconds: number[] = [];
  const others: string[] = [];
  let left = ROUNDS;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const outcome = await ask(service, modelOf(row), row.stream);
      seconds.push(outcome.seconds);
      const { retryAfter: _, ...seen } = { retryAfter: undefined, ...outcome.seen };
      const { retryAfter: __, ...expected } = { retryAfter: undefined, ...row.seen };
      if (JSON.stringify(seen) !== JSON.stringify(expected)) others.push(JSON.stringify(seen));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { asExpected: ROUNDS - others.length, seconds: seconds.sort((a, b) => a - b), others };
}

test.each(FAULT_ROWS)("$fault, stream $stream", async (row) => {
  const { asExpected, seconds, others } = await rounds(row);
  const attempts = await metric(service, "parlance_attempts_total{", `model="${modelOf(row)}"`);
  // Connections close with their fault, or after the pool's keep-alive time of a few seconds.
  await eventually(async () => {
    const { slots, queued, timers, sockets } = await held();
    expect({ slots, queued }).toEqual({ slots: 0, queued: 0 });
    expect([timers, sockets].every((each) => each <= AT_ONCE * 2)).toBe(true);
  }, 30);
  const { timers, sockets, megabytes } = await held();
  const kind = row.stream ? "streamed" : "not streamed";
  const seen = Object.values(row.seen).join(" ");
  const p50 = seconds[ROUNDS / 2]?.toFixed(2);
  console.log(
    `| ${row.fault} | ${kind} | ${seen} | ${asExpected} of ${ROUNDS} | ${attempts} | ${p50} s | ${seconds.at(-1)?.toFixed(2)} s | ${sockets} | ${timers} | ${megabytes} MB |`,
  );
  expect(others).toEqual([]);
  expect(attempts).toBeLessThanOrEqual(ROUNDS * 1.2 + 10 + 60);
});

test("releases memory and timers once idle connections have closed", async () => {
  await eventually(async () => {
    const { slots, queued, timers, megabytes } = await held();
    expect({ slots, queued }).toEqual({ slots: 0, queued: 0 });
    expect(timers).toBeLessThanOrEqual(20);
    expect(megabytes).toBeLessThan(600);
  }, 30);
  console.log("left", await held());
});
