/** A client's disconnect aborts its upstream request on every path, without another attempt. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { LEAVING, leave, leavingConfig } from "../support/service/leaving-clients.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

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
  const { closedAfterMs, requests } = await leave(service, upstream, leaving, ROUNDS);
  expect(closedAfterMs.filter((each) => each !== undefined)).toHaveLength(ROUNDS);
  expect(requests).toBe(ROUNDS);
  await eventually(async () => expect(await metric(service, "parlance_slots_in_use{")).toBe(0));
});
