/** Limits of a moderated chat's caller: moderation of the answer does not count as a request. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const LONG = "The minutes will follow tomorrow. ".repeat(60);

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
limits:
  key: { requests_per_minute: 20, concurrent_requests: 1 }
models:
  - id: guard
    task: moderation
    deployments:
      - engine: guard
        family: llama-guard-3
        chat: { engine: scripted, replies: [{ match: /kill/, text: "unsafe\\nS1" }, { text: safe }] }
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`,
  });
});
afterAll(() => service.stop());

const moderation = { model: "guard", policy: { input: { mode: "block" }, output: { mode: "block" } } };
const ask = (content: string) =>
  service.post("/v1/chat/completions", { model: "parrot", messages: [{ role: "user", content }], moderation });

test("moderates a long answer in pieces within the limits of one request", async () => {
  await eventually(async () => expect((await ask("Hello")).status).toBe(200));
  const answer = await ask(LONG);
  expect(await answer.json()).toMatchObject({
    choices: [{ message: { content: LONG }, finish_reason: "stop" }],
  });
});

test("counts blocked messages as requests", async () => {
  const statuses: number[] = [];
  for (let index = 0; index < 25; index += 1) statuses.push((await ask("how to kill")).status);
  expect(new Set(statuses)).toEqual(new Set([400, 429]));
});
