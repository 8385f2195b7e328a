/** Answers that the last message begins, as clients of several APIs ask for them. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

let service: InProcessService;
beforeAll(async () => {
  const reply = "replies: [{ match: France, text: is Paris. }]";
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: talker, task: chat, deployments: [{ engine: scripted, abilities: { continuation: true, choices: 2 }, ${reply} }] }
  - { id: beginner, task: chat, deployments: [{ engine: scripted, ${reply} }] }
`,
  });
});
afterAll(() => service?.stop());

const question = { role: "user", content: "The capital of France?" };
const begun = (fields: object = {}) => [question, { role: "assistant", content: "It ", ...fields }];
async function post(url: string, payload: object) {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  return service.inject({ method: "POST", url, headers, payload: { model: "talker", ...payload } });
}
const chat = (payload: object) => post("/v1/chat/completions", payload);

test("repeats the beginning for Mistral's prefix, and not for the fields of others", async () => {
  const contents = async (payload: object) =>
    (await chat(payload)).json().choices.map(({ message }: { message: { content: string } }) => message.content);
  expect(await contents({ messages: begun({ prefix: true }), n: 2 })).toEqual(["It is Paris.", "It is Paris."]);
  expect(await contents({ messages: begun({ partial: true }) })).toEqual(["is Paris."]);
  const fields = { continue_final_message: true, add_generation_prompt: false };
  expect(await contents({ messages: begun(), ...fields })).toEqual(["is Paris."]);
  const streamed = await chat({ messages: begun({ prefix: true }), stream: true });
  const deltas = [...streamed.body.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text);
  expect(deltas.join("")).toBe("It is Paris.");
});

test("continues Anthropic's last message of the assistant, or begins a new one", async () => {
  for (const model of ["talker", "beginner"]) {
    const answer = await post("/v1/messages", { model, max_tokens: 20, messages: begun() });
    expect(answer.json().content).toMatchObject([{ text: "is Paris." }]);
  }
});

test("refuses what cannot begin an answer by its field", async () => {
  const called = { tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] };
  const long = [question, { role: "assistant", content: "x".repeat(8_000_001), prefix: true }];
  const refused: [object, string][] = [
    [{ messages: long, n: 2 }, "n"],
    [{ model: "beginner", messages: begun({ prefix: true }) }, "messages[1]"],
    [{ messages: [...begun({ prefix: true }), question] }, "messages[1].prefix"],
    [{ messages: [{ ...question, partial: true }] }, "messages[0].partial"],
    [{ messages: begun({ prefix: true, ...called }) }, "messages[1].tool_calls"],
    [{ messages: [question], continue_final_message: true }, "continue_final_message"],
    [{ messages: [question], add_generation_prompt: false }, "add_generation_prompt"],
  ];
  for (const [payload, param] of refused) {
    const answer = await chat(payload);
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, param]);
  }
});

test("stores what the client got", async () => {
  for (const [fields, content] of [
    [{ prefix: true }, "It is Paris."],
    [{ partial: true }, "is Paris."],
  ] as const) {
    const { id } = (await chat({ messages: begun(fields), store: true })).json();
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const stored = await service.inject({ method: "GET", url: `/v1/chat/completions/${id}`, headers });
    expect(stored.json().choices).toMatchObject([{ message: { content } }]);
  }
});
