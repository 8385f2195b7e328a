/** Evals through the official client, on both databases: graders, sources, cancellation, and a killed service. */

import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const databases = useDatabases();

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true, replies: [{ match: fails, fail_after_tokens: 0, fail_with: { kind: invalid-request, message: "Refused." } }] }]
  - id: other
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "Paris" }] }]
  - id: plain
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "good" }] }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(10)}", delay_ms_per_token: 40 }] }]
  - id: judge
    task: chat
    deployments:
      - engine: scripted
        abilities: { json_schema: true }
        replies:
          - { match: "Score: Paris", text: '{"reasoning":"right","score":0.9}' }
          - { match: "Score:", text: '{"reasoning":"wrong","score":0.1}' }
          - { match: "Label: Paris", text: '{"label":"good"}' }
          - { match: "Label:", text: '{"label":"bad"}' }
`;

const ITEMS = [
  { item: { question: "Paris", answer: "Paris" } },
  { item: { question: "Lyon", answer: "Paris" } },
  { item: { question: "fails", answer: "Paris" } },
];
const custom = {
  type: "custom",
  item_schema: { type: "object", properties: { question: { type: "string" } } },
} as const;
const equals = {
  type: "string_check",
  name: "equal",
  input: "{{sample.output_text}}",
  reference: "{{ item.answer }}",
  operation: "eq",
} as const;
const judged = (kind: string) => [{ role: "user" as const, content: `${kind}: {{sample.output_text}}` }];
const question: OpenAI.Evals.CreateEvalCompletionsRunDataSource.Template = {
  type: "template",
  template: [{ role: "user", content: "{{item.question}}" }],
};

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Service;
  let client: OpenAI;
  let environment: Record<string, string> = {};
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    if (url !== undefined) environment = { DATABASE_URL: url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    service = await startService({ config: CONFIG, environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(() => service.stop());

  async function ended(evalId: string, runId: string) {
    await eventually(async () => {
      const { status } = await client.evals.runs.retrieve(runId, { eval_id: evalId });
      expect(status).toBeOneOf(["completed", "failed", "canceled"]);
    });
    return client.evals.runs.retrieve(runId, { eval_id: evalId });
  }

  test("client.evals creates, runs and reads an eval with graders of every type", async () => {
    const created = await client.evals.create({
      name: "Capitals",
      metadata: { team: "a" },
      data_source_config: custom,
      testing_criteria: [
        equals,
        {
          ...{ type: "text_similarity", name: "similar", evaluation_metric: "fuzzy_match", pass_threshold: 0.9 },
          ...{ input: "{{sample.output_text}}", reference: "{{item.answer}}" },
        },
        {
          type: "label_model",
          name: "label",
          model: "judge",
          input: judged("Label"),
          labels: ["good", "bad"],
          passing_labels: ["good"],
        },
        {
          type: "score_model",
          name: "score",
          model: "judge",
          input: judged("Score"),
          range: [0, 1],
          pass_threshold: 0.5,
        },
        {
          ...{
            type: "multi",
            name: "both",
            calculate_output: "0.5 * exact + 0.5 * max(judged, 0)",
            pass_threshold: 0.9,
          },
          graders: {
            exact: equals,
            judged: { type: "score_model", name: "judged", model: "judge", input: judged("Score"), range: [0, 1] },
          },
        } as never,
      ],
    });
    expect(created).toMatchObject({ object: "eval", name: "Capitals", metadata: { team: "a" } });
    expect(created.data_source_config).toMatchObject({
      type: "custom",
      schema: { properties: { item: custom.item_schema } },
    });
    const { id: evalId } = created;
    const run = await client.evals.runs.create(evalId, {
      name: "First",
      data_source: {
        type: "completions",
        source: { type: "file_content", content: ITEMS },
        input_messages: question,
        model: "parrot",
        sampling_params: { temperature: 0 },
      },
    });
    expect(run).toMatchObject({
      object: "eval.run",
      eval_id: evalId,
      status: "queued",
      model: "parrot",
      name: "First",
    });
    const done = await ended(evalId, run.id);
    expect(done).toMatchObject({
      status: "completed",
      result_counts: { total: 3, passed: 1, failed: 1, errored: 1 },
      per_testing_criteria_results: [
        { testing_criteria: "equal", passed: 1, failed: 1 },
        { testing_criteria: "similar", passed: 1, failed: 1 },
        { testing_criteria: "label", passed: 1, failed: 1 },
        { testing_criteria: "score", passed: 1, failed: 1, mean_score: 0.5 },
        { testing_criteria: "both", passed: 1, failed: 1 },
      ],
    });
    const usage = Object.fromEntries(
      done.per_model_usage.map(({ model_name, invocation_count }) => [model_name, invocation_count]),
    );
    expect(usage).toEqual({ parrot: 2, judge: 6 });
    const items = await Array.fromAsync(client.evals.runs.outputItems.list(run.id, { eval_id: evalId, limit: 2 }));
    expect(items.map(({ status }) => status)).toEqual(["pass", "fail", "error"]);
    expect(items[0]).toMatchObject({
      datasource_item: ITEMS[0]?.item,
      sample: { input: [{ role: "user", content: "Paris" }], output: [{ role: "assistant", content: "Paris" }] },
      results: [
        { name: "equal", passed: true, score: 1 },
        {},
        { sample: { label: "good" } },
        { score: 0.9 },
        { score: 0.95 },
      ],
    });
    expect(items[2]?.sample.error).toMatchObject({ message: expect.stringContaining("Refused.") });
    const [first] = items;
    const read = await client.evals.runs.outputItems.retrieve(first?.id ?? "", { eval_id: evalId, run_id: run.id });
    expect(read).toEqual(first);
    const failed = await Array.fromAsync(
      client.evals.runs.outputItems.list(run.id, { eval_id: evalId, status: "fail" }),
    );
    expect(failed).toHaveLength(1);

    expect((await client.evals.list()).data.map(({ id }) => id)).toContain(evalId);
    expect(await client.evals.update(evalId, { name: "Renamed" })).toMatchObject({
      name: "Renamed",
      metadata: { team: "a" },
    });
    expect((await client.evals.runs.list(evalId)).data.map(({ id }) => id)).toEqual([run.id]);
    expect(await client.evals.runs.delete(run.id, { eval_id: evalId })).toMatchObject({ deleted: true });
    await expect(client.evals.runs.retrieve(run.id, { eval_id: evalId })).rejects.toMatchObject({ status: 404 });
    expect(await client.evals.delete(evalId)).toMatchObject({ object: "eval.deleted", deleted: true });
    await expect(client.evals.retrieve(evalId)).rejects.toMatchObject({ status: 404 });
  });

  test("grades rows of files, samples that rows have, responses and versions of stored prompts", async () => {
    const { id } = await client.evals.create({ data_source_config: custom, testing_criteria: [equals] });
    const lines = ITEMS.slice(0, 2).map((row) => JSON.stringify(row));
    const file = await client.files.create({
      purpose: "evals",
      file: await toFile(Buffer.from(`${lines.join("\n")}\n\n`), "rows.jsonl"),
    });
    expect(file.purpose).toBe("evals");
    const source = { type: "file_id" as const, id: file.id };
    const counts = async (data_source: object) => {
      const run = await client.evals.runs.create(id, { data_source } as never);
      const { status, result_counts, error } = await ended(id, run.id);
      return { status, ...result_counts, error };
    };
    const completed = { status: "completed", total: 2, errored: 0, error: null };
    expect(await counts({ type: "responses", source, model: "other", input_messages: question })).toEqual({
      ...completed,
      passed: 2,
      failed: 0,
    });
    // Its grader has a model without schemas, whose answer is the label alone.
    const labels = ["good"];
    const label = { type: "label_model", name: "plain", model: "plain", labels, passing_labels: labels } as const;
    const plain = await client.evals.create({
      data_source_config: custom,
      testing_criteria: [{ ...label, input: judged("Label") }],
    });
    const graded = await client.evals.runs.create(plain.id, {
      data_source: {
        type: "jsonl",
        source: { type: "file_content", content: [{ item: {}, sample: { output_text: "x" } }] },
      },
    });
    expect((await ended(plain.id, graded.id)).result_counts).toEqual({ total: 1, passed: 1, failed: 0, errored: 0 });
    const samples = ["Paris", "Lyon"].map((text) => ({ item: { answer: "Paris" }, sample: { output_text: text } }));
    expect(await counts({ type: "jsonl", source: { type: "file_content", content: samples } })).toEqual({
      ...completed,
      passed: 1,
      failed: 1,
    });
    const content = { model: "parrot", messages: [{ role: "user", content: "{{city}}" }] };
    await service.post("/v1/prompts", { name: `city ${kind}`, content });
    const prompt = { id: `city ${kind}`, version: "1", variables: { city: "{{item.answer}}" } };
    expect(await counts({ type: "completions", source, prompt })).toEqual({ ...completed, passed: 2, failed: 0 });
    const broken = await client.files.create({
      purpose: "evals",
      file: await toFile(Buffer.from('{"item":{}}\nnope\n'), "x.jsonl"),
    });
    expect(await counts({ type: "jsonl", source: { type: "file_id", id: broken.id } })).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("Line 2") },
    });
  });

  test("refuses code by name, and says what a run lacks", async () => {
    const python = { type: "python", name: "code", source: "def grade(sample, item): return 1" } as const;
    const creating = client.evals.create({ data_source_config: custom, testing_criteria: [equals, python] });
    await expect(creating).rejects.toMatchObject({
      status: 400,
      param: "testing_criteria[1].type",
      message: expect.stringContaining("python"),
    });
    const { id } = await client.evals.create({ data_source_config: custom, testing_criteria: [equals] });
    const run = (data_source: object) => client.evals.runs.create(id, { data_source } as never);
    const source = { type: "file_content", content: ITEMS };
    await expect(run({ type: "completions", source, input_messages: question })).rejects.toMatchObject({
      param: "data_source.model",
    });
    await expect(run({ type: "completions", source, model: "parrot" })).rejects.toMatchObject({
      param: "data_source.input_messages",
    });
    await expect(run({ type: "jsonl", source: { type: "file_id", id: "file-none" } })).rejects.toMatchObject({
      status: 404,
    });
    const admin = new OpenAI({ baseURL: service.baseUrl, apiKey: "unused", adminAPIKey: service.adminKey });
    const project = await admin.admin.organization.projects.create({ name: `Other ${kind}` });
    const account = await admin.admin.organization.projects.serviceAccounts.create(project.id, { name: "other" });
    const other = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    await expect(other.evals.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(
      other.evals.runs.create(id, { data_source: { type: "jsonl", source } } as never),
    ).rejects.toMatchObject({ status: 404 });
  });

  test("cancels a run, whose results so far stay", async () => {
    const { id } = await client.evals.create({ data_source_config: custom, testing_criteria: [equals] });
    const content = Array.from({ length: 200 }, () => ITEMS[0] as (typeof ITEMS)[number]);
    const data_source = {
      type: "completions",
      model: "slow",
      input_messages: question,
      source: { type: "file_content", content },
    } as const;
    const run = await client.evals.runs.create(id, { data_source });
    await eventually(async () => {
      const { result_counts } = await client.evals.runs.retrieve(run.id, { eval_id: id });
      expect(result_counts.failed).toBeGreaterThan(0);
    });
    const canceled = await client.evals.runs.cancel(run.id, { eval_id: id });
    expect(canceled).toMatchObject({ status: "canceled", result_counts: { total: 200 } });
    expect(canceled.result_counts.failed).toBeLessThan(200);
  });
});

test("goes on after kill -9, without a row twice", async () => {
  const { url } = await databases.create("postgresql");
  const environment = { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
  const first = await startService({ config: CONFIG, environment });
  const client = first.client({ maxRetries: 0 });
  const { id } = await client.evals.create({ data_source_config: custom, testing_criteria: [equals] });
  const content = Array.from({ length: 40 }, (_, index) => ({ item: { question: `row ${index}`, answer: "x" } }));
  const data_source = {
    type: "completions",
    model: "slow",
    input_messages: question,
    source: { type: "file_content", content },
  } as const;
  const run = await client.evals.runs.create(id, { data_source });
  await eventually(async () => {
    const { result_counts } = await client.evals.runs.retrieve(run.id, { eval_id: id });
    expect(result_counts.failed).toBeGreaterThan(3);
  });
  await first.stop("SIGKILL");
  const second = await startService({ config: CONFIG, environment });
  try {
    const again = second.client({ apiKey: first.apiKey, maxRetries: 0 });
    await eventually(async () => {
      expect(await again.evals.runs.retrieve(run.id, { eval_id: id })).toMatchObject({ status: "completed" });
    });
    const items = await Array.fromAsync(again.evals.runs.outputItems.list(run.id, { eval_id: id, limit: 100 }));
    expect(items.map(({ datasource_item_id }) => datasource_item_id)).toEqual(content.keys().toArray());
  } finally {
    await second.stop();
  }
});
