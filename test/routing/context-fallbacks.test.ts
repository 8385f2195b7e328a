/** Prompts that do not fit the context window of the requested model, which a model with a larger one answers. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";

let upstream: FaultyUpstream;
let far: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  const scripted = (window: number) => `{ engine: scripted, echo: true, context_window: ${window} }`;
  far = await startService({
    config: `builtin_models: false\nmodels: [{ id: small, task: chat, deployments: [${scripted(8)}] }]`,
  });
  const failing = `{ engine: openai-compatible, base_url: "${upstream.baseUrlFor("fails")}" }`;
  const upstreamSmall = deploymentAt(far, "small", { abilities: { messages: true } });
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: large, task: chat, deployments: [${scripted(1000)}] }
  - { id: medium, task: chat, deployments: [${scripted(20)}] }
  - { id: tiny, task: chat, deployments: [${scripted(4)}] }
  - { id: spare, task: chat, deployments: [${scripted(1000)}] }
  - id: local
    task: chat
    fallbacks: [spare, { model: tiny, when: context_length }, { model: medium, when: context_length }, { model: large, when: always }]
    deployments: [${scripted(8)}, ${scripted(8)}]
  - { id: upstream, task: chat, fallbacks: [{ model: large, when: context_length }], deployments: [${upstreamSmall}] }
  - { id: plain, task: chat, fallbacks: [large], deployments: [${scripted(8)}] }
  - { id: fails, task: chat, retries: 0, fallbacks: [{ model: medium, when: context_length }, { model: large, when: always }], deployments: [${failing}] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await far?.stop();
  await upstream?.close();
});

const say = (count: number) => [{ role: "user", content: "word ".repeat(count).trim() }];

async function ask(model: string, words: number, fields: object = {}, path = "/v1/chat/completions") {
  const response = await service.post(path, { model, messages: say(words), max_tokens: 500, ...fields });
  const { headers, status } = response;
  const body = await response.text();
  const answered = /"model": ?"([^"]+)"/.exec(body)?.[1];
  return { status, answered, body, occasion: headers.get("x-parlance-fallback") };
}

test.each([
  ["local", 3, "local", null],
  ["local", 15, "medium", "context_length"],
  ["local", 100, "large", "context_length"],
  ["upstream", 3, "upstream", null],
  ["upstream", 100, "large", "context_length"],
])("%s answers %i words by %s", async (model, words, answered, occasion) => {
  for (const stream of [false, true]) expect(await ask(model, words, { stream })).toMatchObject({ answered, occasion });
  expect(await ask(model, words, {}, "/v1/messages")).toMatchObject({ answered, occasion });
});

test("refuses a prompt that no window holds, with the requested model's limit", async () => {
  const { status, body } = await ask("local", 2000);
  expect(status).toBe(400);
  expect(JSON.parse(body).error).toMatchObject({
    code: "context_length_exceeded",
    message: expect.stringContaining("8 tokens"),
  });
});

test("keeps fallbacks for the occasions that they have", async () => {
  expect((await ask("plain", 100)).status).toBe(400);
  expect(await ask("fails", 3)).toMatchObject({ answered: "large", occasion: null });
});

test("bills the model that answers, and tries no other deployment with the same window", async () => {
  await ask("local", 15);
  await eventually(() => {
    const line = service.log().findLast(({ msg }) => msg === "request");
    expect(line).toMatchObject({ model: "local", answeredBy: "medium", attempts: 2 });
  });
});
