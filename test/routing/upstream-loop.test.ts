/** An upstream that is the service itself, because of a wrong address or load balancer. */

import { writeFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

let service: ServiceProcess | undefined;
afterEach(() => service?.stop());

test("rejects a request that loops back to it, for any model", async () => {
  service = await startServiceProcess();
  const { baseUrl, apiKey, configFile, process, post, log } = service;
  const deployments = `[{ engine: openai-compatible, base_url: "${baseUrl}", api_key: ${apiKey} }]`;
  const config = `
builtin_models: false
models:
  - { id: round, task: chat, deployments: ${deployments} }
  - { id: speaking, task: speech, deployments: ${deployments} }
  - { id: instead, task: chat, fallbacks: [echo], deployments: ${deployments} }
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
  await writeFile(configFile, config);
  process.kill("SIGHUP");
  await eventually(() => expect(log()).toContainEqual(expect.objectContaining({ msg: "configuration reloaded" })));
  const messages = [{ role: "user", content: "Go." }];

  const answer = await post("/v1/chat/completions", { model: "round", messages });
  expect(answer.status).toBe(502);
  expect((await post("/v1/audio/speech", { model: "speaking", input: "Go.", voice: "any" })).status).toBe(502);
  expect((await post("/v1/chat/completions", { model: "instead", messages })).status).toBe(200);
  const faults = log().flatMap(({ fault }) => (typeof fault === "string" ? [fault] : []));
  expect(faults).toContainEqual(expect.stringContaining("leads back to this service"));
  const requests = log().filter(({ msg }) => msg === "request");
  expect(requests.length).toBeLessThan(20);
});
