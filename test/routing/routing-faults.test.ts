/** The caller's error for each upstream fault, without and with another deployment. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import {
  ask,
  FAULT_ROWS,
  faultsConfig,
  isSavedElsewhere,
  metric,
  modelOf,
} from "../support/upstreams/routed-faults.ts";

let upstream: FaultyUpstream;
let service: Service;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  service = await startService({ config: faultsConfig(upstream, 0.5) });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

const attemptsOf = (model: string) => metric(service, "parlance_attempts_total{", `model="${model}"`);

test.concurrent.each(FAULT_ROWS)("$fault, stream $stream: $seen after $attempts attempts", async (row) => {
  const model = modelOf(row);
  expect((await ask(service, model, row.stream)).seen).toEqual(row.seen);
  expect(await attemptsOf(model)).toBe(row.attempts);
});

test.concurrent.each(FAULT_ROWS)("$fault, stream $stream, with another deployment", async (row) => {
  const model = `${modelOf(row)}-saved`;
  const { seen, deployment } = await ask(service, model, row.stream);
  if (isSavedElsewhere(row)) {
    expect(seen).toEqual({ status: 200, ends: "complete" });
    expect([deployment, await attemptsOf(model)]).toEqual([`${model}#2`, 2]);
  } else {
    expect(seen).toEqual(row.seen);
    expect(await attemptsOf(model)).toBe(1);
  }
});

test("holds no slots or connections after all faults", async () => {
  await eventually(async () => {
    expect(await metric(service, "parlance_slots_in_use{")).toBe(0);
    expect(await metric(service, "parlance_queue_length{")).toBe(0);
  });
});
