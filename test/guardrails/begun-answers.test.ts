/** Guardrails on answers that the caller has begun: what begins in the caller's text and ends in the model's. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

let service: InProcessService;
beforeAll(async () => {
  const engine = `engine: scripted, abilities: { continuation: true, choices: 2, infill: true }`;
  const replies = `replies: [{ match: /mail|exam/, text: ple.com is hers. }, { text: idden things }]`;
  const deployments = `deployments: [{ ${engine}, ${replies} }]`;
  service = await startService({
    config: `
builtin_models: false
models:
  - id: masked
    task: chat
    guardrails: [{ type: pii, action: mask, on: [output] }, { type: words, words: [forbidden], action: mask, on: [output] }]
    ${deployments}
  - id: blocked
    task: chat
    guardrails: [{ type: words, words: [forbidden], action: block, on: [output] }]
    ${deployments}
`,
  });
});
afterAll(() => service?.stop());

async function post(url: string, payload: object) {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const answer = await service.inject({ method: "POST", url, headers, payload: { model: "masked", ...payload } });
  expect(answer.statusCode).toBe(200);
  return answer;
}
const begun = (content: string, fields: object = {}, question = "Say it.") => [
  { role: "user", content: question },
  { role: "assistant", content, ...fields },
];
const contentOf = async (payload: object) =>
  (await post("/v1/chat/completions", payload)).json().choices[0].message.content;

test("mask what begins in the last message", async () => {
  expect(await contentOf({ messages: begun("All forb", { prefix: true }) })).toBe("All forb<WORD> things");
  expect(await contentOf({ messages: begun("All forb", { partial: true }) })).toBe("<WORD> things");
  const address = begun("Write ada@exam", { partial: true }, "Her mail?");
  expect(await contentOf({ messages: address })).toBe("<EMAIL_ADDRESS> is hers.");
  const answer = await post("/v1/messages", { max_tokens: 20, messages: begun("All forb") });
  expect(answer.json().content).toMatchObject([{ text: "<WORD> things" }]);
  expect(await contentOf({ messages: begun("All forbidden ", { partial: true }) })).toBe("idden things");
  expect(await contentOf({ messages: begun("All forb") })).toBe("idden things");
});

test("mask it in streams, in each choice, and after prompts", async () => {
  const streamed = await post("/v1/chat/completions", {
    messages: begun("All forb", { partial: true }),
    stream: true,
    n: 2,
  });
  const deltas = [...streamed.body.matchAll(/"index":1,"delta":\{"content":"([^"]*)"/g)].map(([, text]) => text);
  expect(deltas.join("")).toBe("<WORD> things");
  const { choices } = (await post("/v1/completions", { prompt: ["all", "All forb"], n: 2 })).json();
  const [whole, masked] = ["idden things", "<WORD> things"];
  expect(choices.map(({ text }: { text: string }) => text)).toEqual([whole, whole, masked, masked]);
  const filled = await post("/v1/fim/completions", { prompt: "All forb", suffix: "." });
  expect(filled.json().choices[0].message.content).toBe("<WORD> things");
});

test("end an answer that completes a blocked word", async () => {
  const answer = await post("/v1/chat/completions", {
    model: "blocked",
    messages: begun("All forb", { prefix: true }),
  });
  const [{ message, finish_reason: reason }] = answer.json().choices;
  expect([message.content, reason]).toEqual(["All forb", "content_filter"]);
});
