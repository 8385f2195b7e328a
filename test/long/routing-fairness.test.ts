/** How long a project's requests wait for a slot while another project has a thousand waiting. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

const TURN_MS = 50;
const REQUESTS = 50;

let service: ServiceProcess;
beforeAll(async () => {
  const reply = `{ text: Turn., delay_ms_before_first: ${TURN_MS} }`;
  const deployment = `{ engine: scripted, slots: 1, replies: [${reply}] }`;
  service = await startServiceProcess({
    config: `builtin_models: false\nmodels: [{ id: fair, task: chat, max_queue: 2000, deployments: [${deployment}] }]\n`,
  });
});
afterAll(() => service.stop());

const JSON_TYPE = { "content-type": "application/json" };

async function newProject(): Promise<{ id: string; key: string }> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${service.adminKey}` };
  const post = async (path: string) =>
    (await service.post(`/v1/organization/${path}`, { name: "modest" }, { headers })).json();
  const { id } = (await post("projects")) as { id: string };
  const account = (await post(`projects/${id}/service_accounts`)) as { api_key: { value: string } };
  return { id, key: account.api_key.value };
}

test("delays a small project by about one turn behind another project's thousand requests", async () => {
  const { id, key } = await newProject();
  const leaving = new AbortController();
  const body = { model: "fair", messages: [{ role: "user", content: "Go." }] };
  const greedy = Array.from({ length: 1100 }, () =>
    service.post("/v1/chat/completions", body, { signal: leaving.signal }).catch(() => {}),
  );
  await eventually(async () => expect(await metric(service, "parlance_queue_length{")).toBeGreaterThan(1000));
  for (let count = 0; count < REQUESTS; count += 1) {
    const response = await service.post("/v1/chat/completions", body, {
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
  }
  expect(await metric(service, "parlance_queue_length{")).toBeGreaterThan(800);
  leaving.abort();
  await Promise.all(greedy);
  const ownLines = () => service.log().filter(({ projectId, queuedMs }) => projectId === id && queuedMs !== undefined);
  await eventually(() => expect(ownLines()).toHaveLength(REQUESTS));
  const lines = ownLines();
  const waited = lines.map(({ queuedMs }) => Number(queuedMs)).sort((a, b) => a - b);
  console.log(
    `${waited.length} requests beside a thousand waiting: waited ${waited[REQUESTS / 2]} ms (p50), ${waited.at(-1)} ms at most; a turn is ${TURN_MS} ms`,
  );
  expect(waited[REQUESTS / 2]).toBeLessThan(TURN_MS * 4);
});
