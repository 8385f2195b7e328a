/** One project's long queue, and the request of another. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

let service: Service;
beforeAll(async () => {
  // Turns so long that the queue is there until it is left.
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: fair, task: chat, max_queue: 2000, deployments: [{ engine: scripted, slots: 1, replies: [{ text: Turn., delay_ms_before_first: 400 }] }] }
`,
  });
});
afterAll(() => service.stop());

test("delays another project's request by at most one turn behind a thousand waiting requests", async () => {
  const admin = administrator(service);
  const { id } = await admin.projects.create({ name: "another" });
  const account = await admin.projects.serviceAccounts.create(id, { name: "one" });
  const ask = (init: RequestInit = {}) => {
    const body = { model: "fair", messages: [{ role: "user", content: "Hello." }] };
    return service.post("/v1/chat/completions", body, init);
  };
  const queueLength = () => metric(service, "parlance_queue_length{", 'model="fair"');
  const leaving = new AbortController();
  let served = 0;
  const greedy = Array.from({ length: 1001 }, () =>
    ask({ signal: leaving.signal }).then(
      () => {
        served += 1;
      },
      () => {},
    ),
  );
  await eventually(async () => expect(await queueLength()).toBeGreaterThan(950));
  const before = served;
  const headers = { authorization: `Bearer ${account.api_key?.value}`, "content-type": "application/json" };
  const modest = await ask({ headers });
  // One was being served, one may have had its turn, and two may have been answered meanwhile.
  expect([modest.status, served - before <= 4]).toEqual([200, true]);
  expect(await metric(service, "parlance_queue_seconds_count{", 'model="fair"')).toBeGreaterThan(0);
  leaving.abort();
  await Promise.all(greedy);
  await eventually(async () => expect(await queueLength()).toBe(0));
});
