/** Limits and moderation policies, which the Responses and Messages APIs share with chat completions. */

import { afterEach, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

const MODELS = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: judge
    task: moderation
    deployments: [{ engine: guard, family: llama-guard-4, chat: { engine: scripted, replies: [{ text: "unsafe\\nS1" }] } }]
`;

let service: Service | undefined;
afterEach(() => service?.stop());

const REQUESTS = {
  "/v1/responses": { model: "parrot", input: "Hi" },
  "/v1/messages": { model: "parrot", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
};

test.each(Object.entries(REQUESTS))("%s answers 429 beyond a limit", async (path, body) => {
  service = await startService({ config: `${MODELS}limits: { project_model: { requests_per_minute: 1 } }\n` });
  expect((await service.post(path, body)).status).toBe(200);
  const refused = await service.post(path, body);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("rejects what the project's moderation policy blocks in both formats", async () => {
  service = await startService({ config: MODELS });
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const listed = await fetch(`${service.baseUrl}/organization/projects`, { headers });
  const { data } = (await listed.json()) as { data: { id: string }[] };
  const policy = { model: "judge", policy: { input: { mode: "block" } } };
  const path = `/v1/organization/projects/${data[0]?.id}/moderation_policy`;
  expect((await service.post(path, policy, { headers })).status).toBe(200);
  for (const [route, body] of Object.entries(REQUESTS)) {
    const refused = await service.post(route, body);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("blocked by the moderation policy");
  }
});
