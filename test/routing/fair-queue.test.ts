/** One project's long queue, and the request of another. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

interface Entry {
  project_id: string;
  /** Epoch seconds. */
  ended_at: number;
  duration_ms: number;
}

let service: ServiceProcess;
beforeAll(async () => {
  // Turns so long that the queue is there until it is left.
  service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - { id: fair, task: chat, max_queue: 2000, deployments: [{ engine: scripted, slots: 1, replies: [{ text: Turn., delay_ms_before_first: 2000 }] }] }
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
  const ended = async () => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const response = await service.fetch("/v1/organization/requests?limit=100", { headers });
    return ((await response.json()) as { data: Entry[] }).data;
  };
  const leaving = new AbortController();
  const greedy: Promise<unknown>[] = [];
  // A thousand that arrive in one turn of the event loop would pass for a stall.
  while (greedy.length < 1000) {
    greedy.push(...Array.from({ length: 100 }, () => ask({ signal: leaving.signal }).catch(() => {})));
    await eventually(async () => expect(await queueLength()).toBeGreaterThan(greedy.length - 60));
  }
  const headers = { authorization: `Bearer ${account.api_key?.value}`, "content-type": "application/json" };
  const modest = await ask({ headers });
  expect(modest.status).toBe(200);
  // By the service's clock: this process, with a thousand requests, may see answers late.
  await eventually(async () => {
    const entries = await ended();
    const modestEntry = entries.find(({ project_id: project }) => project === id);
    const isMeanwhile = ({ ended_at: at }: Entry) =>
      modestEntry !== undefined &&
      at <= modestEntry.ended_at &&
      at > modestEntry.ended_at - modestEntry.duration_ms / 1000;
    // One was being served, and one may have had its turn.
    expect(entries.filter((entry) => entry !== modestEntry && isMeanwhile(entry)).length).toBeLessThanOrEqual(2);
    expect(modestEntry).toBeDefined();
  });
  expect(await metric(service, "parlance_queue_seconds_count{", 'model="fair"')).toBeGreaterThan(0);
  leaving.abort();
  await Promise.all(greedy);
  await eventually(async () => expect(await queueLength()).toBe(0));
});
