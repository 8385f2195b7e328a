/** A client's disconnect aborts its upstream request on every path, without another attempt. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { LEAVING, leave, leavingConfig } from "../support/service/leaving-clients.ts";
import { type Service, startService } from "../support/service/service.ts";
import { CHECKS_DURATIONS } from "../support/timing.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

/** Clients that disconnect, each at another time. */
const ROUNDS = CHECKS_DURATIONS ? 1000 : 50;

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

test.each(Object.entries(LEAVING))("%s", async (when, leaving) => {
  const { closedAfterMs, requests } = await leave(service, upstream, leaving, ROUNDS);
  const closed = closedAfterMs.filter((each) => each !== undefined).sort((a, b) => a - b);
  if (CHECKS_DURATIONS) {
    const soon = closed.filter((each) => each <= 100).length;
    const at = (share: number) => closed[Math.ceil(share * closed.length) - 1]?.toFixed(1);
    console.log(
      `${when}: ${closed.length} of ${ROUNDS} closed, ${soon} within 100 ms; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, last ${at(1)} ms; ${requests} requests upstream`,
    );
  }
  expect(closed).toHaveLength(ROUNDS);
  expect(requests).toBe(ROUNDS);
  await eventually(async () => expect(await metric(service, "parlance_slots_in_use{")).toBe(0));
});
