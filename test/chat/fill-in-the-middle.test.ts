/** Mistral's POST /v1/fim/completions, on the scripted engine and an upstream. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const coder = `
  - id: coder
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - { engine: scripted, abilities: { infill: true }, replies: [{ text: return a + b }] }
`;

let upstream: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startService({ config: `builtin_models: false\nmodels:${coder}` });
  service = await startService({
    config: `
builtin_models: false
models:${coder}
  - { id: far, task: chat, deployments: [${deploymentAt(upstream, "coder")}] }
  - { id: talker, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const GAP = { prompt: "def add(a, b):\n    ", suffix: "\n\nprint(add(1, 2))" };
const fill = (body: object) => service.post("/v1/fim/completions", { ...GAP, ...body });
const lastRequest = () => service.log().findLast(({ msg }) => msg === "request");

describe.each(["coder", "far"])("the model %s", (model) => {
  test("fills in the gap as a chat completion", async () => {
    const filled = await fill({ model, max_tokens: 20, random_seed: 1, min_tokens: 1 });
    const answer = (await filled.json()) as { usage: { completion_tokens: number } };
    expect(answer).toMatchObject({
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "return a + b" }, finish_reason: "stop" }],
    });
    await eventually(() => {
      expect(lastRequest()).toMatchObject({ answeredBy: model, completionTokens: answer.usage.completion_tokens });
    });
  });

  test("streams it with the usage", async () => {
    const text = await (await fill({ model, stream: true })).text();
    const events = text.trim().split("\n\n");
    expect(events.pop()).toBe("data: [DONE]");
    const chunks = events.map((event) => JSON.parse(event.slice("data: ".length)));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("return a + b");
    expect(chunks.filter((chunk) => "usage" in chunk)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
  });
});

test("reaches an upstream with the suffix and the seed", async () => {
  await fill({ model: "far", random_seed: 7, stop: "\n", temperature: 0 });
  expect(upstream.log().findLast(({ msg }) => msg === "request")).toMatchObject({
    path: "/v1/completions",
    status: 200,
  });
});

test("goes on without a gap, and refuses what it cannot do by the field", async () => {
  expect((await fill({ model: "coder", suffix: undefined })).status).toBe(200);
  const refused: [object, string][] = [
    [{ prompt: "" }, "prompt"],
    [{ prompt: ["a"] }, "prompt"],
    [{ temperature: 3 }, "temperature"],
    [{ stop: ["a", "b", "c", "d", "e"] }, "stop"],
    [{ model: "talker" }, "suffix"],
  ];
  for (const [fields, param] of refused) {
    const answer = await fill({ model: "coder", ...fields });
    const { error } = (await answer.json()) as { error: { param: string } };
    expect([answer.status, error.param]).toEqual([400, param]);
  }
});
