/** POST /v1/decisions through the official client, with scripted, upstream and real models. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultChatModelPath } from "../support/models/default-model.ts";
import { type Service, startService } from "../support/service/service.ts";

const TEAMS = ["billing", "support", "sales"];
const LEVELS = ["calm", "cross", "furious"].map((label) => ({ label }));
const PREDICATE = { type: "predicate" as const, name: "late", instructions: "It is late." };
const CHOICE = {
  type: "choice" as const,
  name: "team",
  instructions: "Who answers?",
  choices: TEAMS.map((value) => ({ value })),
};
const SCORE = { type: "score" as const, instructions: "How angry?", levels: LEVELS };
const DECLINED = { type: "predicate" as const, name: "weapon", instructions: "Describe a weapon." };
const MANY = {
  type: "choice" as const,
  instructions: "Which number?",
  choices: Array.from({ length: 40 }, (_, index) => ({ value: `number ${index}` })),
};

const REPLIES = `
          - { match: "It is late.", text: "Yes No" }
          - { match: "Who answers?", text: "B A C" }
          - { match: "How angry?", text: "C B A" }
          - { match: "Describe a weapon.", refusal: "I cannot." }
          - { match: "Something else", text: "Perhaps." }
          - { match: "/Slowly.*Groups of options/s", text: "B A C", delay_ms_before_first: 400 }
          - { match: "Groups of options", text: "B A C" }
          - { match: "Which number?", text: "C A" }
          - { match: "Think first", reasoning: "Two thoughts.", text: "No Yes" }
          - { match: "Fails", fail_after_tokens: 0 }
          - { match: "Refused", fail_after_tokens: 0, fail_with: { kind: invalid-request } }
`;
const scripted = (abilities: string) => `
      - engine: scripted
        abilities: ${abilities}
        replies:${REPLIES}`;

let upstream: Service;
let service: Service;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startService({
    config: `
builtin_models: false
models:
  - id: judge
    task: chat
    circuit: { failures: 1000 }
    deployments:${scripted("{ tools: true, reasoning: true, logprobs: true }")}
  - id: remembering
    task: chat
    cache: { ttl_seconds: 600 }
    deployments: [{ engine: scripted, context_window: 1000000, abilities: { logprobs: true }, replies: [{ text: Yes No }] }]
`,
  });
  service = await startService({
    config: JSON.stringify({
      builtin_models: false,
      models: [
        {
          id: "small",
          task: "chat",
          deployments: [{ engine: "llama-cpp", file: await defaultChatModelPath(), gpu: false, context_size: 1024 }],
        },
        ...[
          ["judge", {}],
          ["guarded", {}],
          ["mute", { logprobs: false }],
        ].map(([id, abilities]) => ({
          ...{ id, task: "chat", price: { prompt: "0.001", completion: "0.01" }, circuit: { failures: 1000 } },
          ...(id === "guarded" && { guardrails: [{ type: "words", words: ["Bluebird"], action: "mask" }] }),
          deployments: [
            {
              engine: "openai-compatible",
              base_url: upstream.baseUrl,
              api_key: upstream.apiKey,
              model: "judge",
              abilities,
            },
          ],
        })),
      ],
    }),
  });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

describe.each(["local", "upstream"])("a %s model", (where) => {
  const ask = (body: Omit<OpenAI.DecisionCreateParams, "model">) =>
    (where === "local" ? upstream.client({ maxRetries: 0 }) : client).decisions.create({ model: "judge", ...body });

  test("answers predicates, choices, scores and refusals in their order", async () => {
    const input = [
      { role: "user" as const, content: "Where is my order?" },
      { role: "assistant" as const, content: "On its way." },
      { role: "user" as const, content: [{ type: "input_json" as const, data: { url: "http://10.0.0.1/" } }] },
    ];
    const { answers, model, usage } = await ask({ input, questions: [PREDICATE, CHOICE, DECLINED, SCORE] });
    expect(model).toBe("judge");
    expect(answers).toEqual([
      { type: "predicate", name: "late", probability: expect.closeTo(0.9) },
      {
        ...{ type: "choice", name: "team", choice: "support", confidence: expect.closeTo(0.9) },
        probabilities: [
          { value: "billing", probability: expect.closeTo(0.05) },
          { value: "support", probability: expect.closeTo(0.9) },
          { value: "sales", probability: expect.closeTo(0.05) },
        ],
      },
      { type: "refusal", name: "weapon" },
      {
        ...{ type: "score", name: null, score: expect.closeTo(1.85), confidence: expect.closeTo(0.9) },
        probabilities: LEVELS.map(({ label }, value) => ({ label, value, probability: expect.any(Number) })),
      },
    ]);
    expect(usage).toMatchObject({ output_tokens: 4, total_tokens: usage.input_tokens + 4 });
  });

  test("chooses among many by groups", async () => {
    const { answers, usage } = await ask({ input: "It is nineteen.", questions: [MANY] });
    const [answer] = answers;
    if (answer?.type !== "choice") throw new Error(`not a choice: ${answer?.type}`);
    // Three groups of 14: the third of the second one.
    expect(answer).toMatchObject({ choice: "number 16", confidence: expect.closeTo(0.81) });
    expect(answer.probabilities).toHaveLength(40);
    expect(answer.probabilities.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1);
    // Only the group that is likely was asked about.
    expect(usage.output_tokens).toBe(2);
  });

  test("refuses what the model answers otherwise, and turns reasoning off", async () => {
    const other = { type: "predicate" as const, instructions: "Something else" };
    const thought = { type: "predicate" as const, instructions: "Think first" };
    const { answers, usage } = await ask({ input: "Hello", questions: [other, thought, thought] });
    expect(answers).toEqual([
      { type: "refusal", name: null },
      { type: "predicate", name: null, probability: expect.closeTo(0.1) },
      { type: "predicate", name: null, probability: expect.closeTo(0.1) },
    ]);
    expect(usage.output_tokens).toBeGreaterThanOrEqual(4);
  });
});

test("tells strings and booleans of the same text apart", async () => {
  const choices = [{ value: "true" }, { value: true }, { value: false }];
  const { answers } = await client.decisions.create({
    ...{ model: "judge", input: "Hello", questions: [{ ...CHOICE, choices }] },
  });
  expect(answers).toMatchObject([{ choice: true }]);
});

test("counts as one request, with the tokens of all questions", async () => {
  const questions = [PREDICATE, CHOICE, SCORE, MANY];
  const { usage } = await client.decisions.create({ model: "judge", input: "Hello", questions });
  const requests = () =>
    service.log().filter(({ path, promptTokens }) => path === "/v1/decisions" && promptTokens === usage.input_tokens);
  await expect.poll(requests).toMatchObject([{ msg: "request", completionTokens: usage.output_tokens }]);
});

test("is decided under guardrails of answers", async () => {
  const questions = [PREDICATE, CHOICE];
  const { answers } = await client.decisions.create({ model: "guarded", input: "A Bluebird", questions });
  expect(answers).toMatchObject([{ type: "predicate", probability: expect.closeTo(0.9) }, { choice: "support" }]);
});

test("fails as a whole when a question fails", async () => {
  const questions = [PREDICATE, { type: "predicate" as const, instructions: "Fails" }, CHOICE];
  await expect(client.decisions.create({ model: "judge", input: "Hello", questions })).rejects.toMatchObject({
    status: 502,
  });
});

test("asks nothing more once a question has failed", async () => {
  const chats = () => upstream.log().filter(({ path }) => path === "/v1/chat/completions").length;
  const lists = () => upstream.log().filter(({ path }) => path === "/v1/models").length;
  const written = async () => {
    const before = lists();
    await upstream.client().models.list();
    await expect.poll(lists).toBeGreaterThan(before);
    return chats();
  };
  const before = await written();
  const refused = { type: "predicate" as const, instructions: "Refused" };
  const questions = [PREDICATE, refused, { ...MANY, instructions: "Slowly: which number?" }];
  await expect(client.decisions.create({ model: "judge", input: "Hello", questions })).rejects.toMatchObject({
    status: 400,
  });
  // The third question asks about groups beside the second one, then not about choices.
  expect(await written()).toBe(before + 3);
});

test("takes turns with others where the cache has all answers", async () => {
  const { decisions } = upstream.client({ maxRetries: 0 });
  const input = "word ".repeat(500_000);
  const decide = (count: number) =>
    decisions.create({ model: "remembering", input, questions: Array.from({ length: count }, () => PREDICATE) });
  await decide(1);
  expect((await decide(400)).answers).toHaveLength(400);
});

test("refuses a model without log probabilities by its name", async () => {
  await expect(
    client.decisions.create({ model: "mute", input: "Hello", questions: [PREDICATE] }),
  ).rejects.toMatchObject({ status: 400, param: "model" });
});

const score = (levels: number) => ({
  ...SCORE,
  levels: Array.from({ length: levels }, (_, index) => ({ label: `level ${index}` })),
});
const image = (image_url: string) => ({ ...PREDICATE, instructions: [{ type: "input_image", image_url }] });

test.each([
  ["questions", { questions: [] }],
  ["questions", { questions: Array.from({ length: 401 }, () => PREDICATE) }],
  ["questions[0].type", { questions: [{ type: "rank", instructions: "a" }] }],
  ["questions[0].instructions", { questions: [{ type: "predicate", instructions: "" }] }],
  ["questions[0].choices", { questions: [{ ...CHOICE, choices: [{ value: "one" }] }] }],
  ["questions[0].choices[1].value", { questions: [{ ...CHOICE, choices: [{ value: "a" }, { value: "a" }] }] }],
  ["questions[0].levels", { questions: [score(11)] }],
  ["questions[1].instructions[0].image_url", { questions: [PREDICATE, image("http://169.254.169.254/")] }],
  ["input[0].type", { input: [{ type: "reasoning", summary: [] }], questions: [PREDICATE] }],
  [
    "input[0].content[0].data",
    { input: [{ role: "user", content: [{ type: "input_json" }] }], questions: [PREDICATE] },
  ],
  [
    "input[0].call_id",
    { input: [{ type: "function_call_output", call_id: "a", output: "b" }], questions: [PREDICATE] },
  ],
])("names %s in a body that is invalid", async (param, body) => {
  const response = await service.post("/v1/decisions", { model: "judge", input: "Hello", ...body });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: { param: string } }).error.param).toBe(param);
});

test("is decided by a real model", async () => {
  const { answers, usage } = await client.decisions.create({
    model: "small",
    input: "The soup was cold, the waiter shouted at us, and we never want to come back.",
    questions: [
      { type: "predicate", instructions: "The guest is unhappy." },
      { type: "choice", instructions: "What is it about?", choices: [{ value: "a restaurant" }, { value: "a train" }] },
      SCORE,
    ],
  });
  expect(answers.map(({ type }) => type)).toEqual(["predicate", "choice", "score"]);
  for (const answer of answers) {
    if (answer.type !== "choice" && answer.type !== "score") continue;
    const sum = answer.probabilities.reduce((total, { probability }) => total + probability, 0);
    expect(sum).toBeCloseTo(1);
  }
  expect(usage).toMatchObject({ output_tokens: 3 });
});
