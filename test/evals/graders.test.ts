/** Graders without an eval, through the official client. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

let service: Service;
let client: OpenAI;
let graders: OpenAI["fineTuning"]["alpha"]["graders"];
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - id: judge
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - engine: scripted
        abilities: { json_schema: true }
        replies:
          - { match: "Score: Paris", text: '{"reasoning":"right","score":0.9}' }
          - { match: "Score: nonsense", text: 'nonsense' }
          - { match: "Score:", text: '{"reasoning":"wrong","score":0.1}' }
  - id: hidden
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`,
  });
  client = service.client({ maxRetries: 0 });
  const { projects } = administrator(service);
  for await (const { id } of projects.list()) {
    await projects.modelPermissions.update(id, { mode: "deny_list", model_ids: ["hidden"] });
  }
  graders = client.fineTuning.alpha.graders;
});
afterAll(() => service.stop());

const equals = {
  type: "string_check",
  name: "equal",
  input: "{{sample.output_text}}",
  reference: "{{item.answer}}",
  operation: "eq",
} as const;
const similar = {
  type: "text_similarity",
  name: "similar",
  input: "{{sample.output_json.city}}",
  reference: "Paris",
  evaluation_metric: "fuzzy_match",
} as const;
const scored = {
  type: "score_model",
  name: "scored",
  model: "judge",
  input: [{ role: "user", content: "Score: {{sample.output_text}}" }],
} as const;

test("runs graders of texts", async () => {
  const run = await graders.run({ grader: equals, model_sample: "Paris", item: { answer: "Paris" } });
  expect(run).toMatchObject({
    reward: 1,
    metadata: { name: "equal", type: "string_check", token_usage: null, sampled_model_name: null, error: null },
    sub_rewards: {},
    model_grader_token_usage_per_model: {},
  });
  expect(Object.values(run.metadata.errors).every((error) => !error)).toBe(true);
  expect(run.metadata.execution_time).toBeGreaterThanOrEqual(0);
  expect((await graders.run({ grader: equals, model_sample: "Lyon", item: { answer: "Paris" } })).reward).toBe(0);
  expect((await graders.run({ grader: similar, model_sample: '{"city":"Paris"}' })).reward).toBe(1);
});

test("runs models that grade as requests of the caller, and combines graders", async () => {
  const multi = {
    type: "multi" as const,
    name: "both",
    graders: { equals, scored },
    calculate_output: "equals / 2 + scored",
  };
  const run = await graders.run({
    grader: multi as unknown as OpenAI.Graders.MultiGrader,
    model_sample: "Paris",
    item: { answer: "Paris" },
  });
  expect(run.reward).toBeCloseTo(1.4);
  expect(run.sub_rewards).toEqual({ equals: 1, scored: 0.9 });
  expect(run.metadata.sampled_model_name).toBe("judge");
  const usage = run.model_grader_token_usage_per_model.judge as { total_tokens: number };
  expect(usage.total_tokens).toBeGreaterThan(0);
  expect(run.metadata.token_usage).toBe(usage.total_tokens);
  await eventually(async () => {
    const { data } = await administrator(service).usage.completions({
      start_time: Math.floor(Date.now() / 1000) - 3600,
      models: ["judge"],
      bucket_width: "1d",
    });
    const results = data.flatMap((bucket) => bucket.results);
    const tokens = results.reduce((sum, each) => sum + ("num_model_requests" in each ? each.num_model_requests : 0), 0);
    expect(tokens).toBe(1);
  });
});

test("says what went wrong in the result", async () => {
  const errorsOf = async (grader: object, model_sample = "Paris", item: object = {}) => {
    const { reward, metadata } = await graders.run({ grader: grader as never, model_sample, item });
    expect(reward).toBe(0);
    const { error, errors } = metadata as typeof metadata & { error: string };
    return { error, named: Object.entries(errors).flatMap(([name, value]) => (value === true ? [name] : [])) };
  };
  expect(await errorsOf(equals)).toMatchObject({ named: ["invalid_variable_error"] });
  expect(await errorsOf(scored, "nonsense")).toMatchObject({ named: ["model_grader_parse_error"] });
  for (const model of ["hidden", "none"]) {
    expect(await errorsOf({ ...scored, model })).toMatchObject({
      named: ["model_grader_server_error"],
      error: expect.stringContaining("does not exist"),
    });
  }
  const zero = { type: "multi", name: "zero", graders: { equals }, calculate_output: "1 / (equals - 1)" };
  expect(await errorsOf(zero, "Paris", { answer: "Paris" })).toMatchObject({ named: ["formula_parse_error"] });
  const { named } = await errorsOf({ ...equals, input: "{{item.long}}".repeat(20) }, "Paris", {
    long: "x".repeat(100_000),
  });
  expect(named).toEqual(["other_error"]);
});

test("validates graders, and refuses what it cannot run", async () => {
  expect((await graders.validate({ grader: similar })).grader).toMatchObject({ ...similar, pass_threshold: 0.5 });
  const python = { type: "python", name: "code", source: "def grade(sample, item): return 1" } as const;
  const multi = (calculate_output: string, inner: object = { equals }) =>
    ({ type: "multi", name: "all", graders: inner, calculate_output }) as never;
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`g${index}`, equals]));
  for (const [grader, message] of [
    [python, "python"],
    [multi("1", { python }), "python"],
    [multi("other + 1"), "'other'"],
    [multi("(".repeat(100)), "calculate_output"],
    [multi("1", many), "20 graders"],
    [{ ...equals, operation: "matches" }, "operation"],
  ] as unknown as [OpenAI.Graders.StringCheckGrader, string][]) {
    const refusal = { status: 400, message: expect.stringContaining(message) };
    await expect(graders.validate({ grader })).rejects.toMatchObject(refusal);
    await expect(graders.run({ grader, model_sample: "Paris" })).rejects.toMatchObject(refusal);
  }
});

test("searches repetitive texts without making others wait", async () => {
  // The harness fails a test whose service had no turn for long.
  const [text, part] = ["a".repeat(200_000), `${"a".repeat(50_000)}b${"a".repeat(50_000)}`];
  const of = (operation: "like" | "ilike", reference: string) => {
    return graders.run({ grader: { ...equals, operation, reference }, model_sample: text });
  };
  expect((await of("like", part)).reward).toBe(0);
  expect((await of("ilike", part.toUpperCase())).reward).toBe(0);
  expect((await of("ilike", "A".repeat(150_000))).reward).toBe(1);
});
