/** A client's disconnect aborts its upstream request on every path, without another attempt. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./support/eventually.ts";
import { type FaultyUpstream, startFaultyUpstream } from "./support/faulty-upstream.ts";
import { LEAVING, leave, leavingConfig } from "./support/leaving-clients.ts";
import { metric } from "./support/routed-faults.ts";
import { type Service, startService } from "./support/service.ts";

const ROUNDS = 50;

let upstream: FaultyUpstream;
let service: Service;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  service = await startService({ config: leavingConfig(upstream) });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

test.each(Object.entries(LEAVING))("%s", async (_when, leaving) => {
  const { closedAfterMilliseconds, requests } = await leave(service, upstream, leaving, ROUNDS);
  expect(closedAfterMilliseconds.filter((each) => each !== undefined)).toHaveLength(ROUNDS);
  expect(requests).toBe(ROUNDS);
  await eventually(async () => expect(await metric(service, "parlance_slots_in_use{")).toBe(0));
});
