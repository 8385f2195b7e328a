/** Evals through the official client, on both databases: graders, sources, cancellation, and a killed service. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const databases = useDatabases();

const CONFIG = `
builtin_models: false
usage: { labels: { end_users: true } }
models:
  - id: parrot
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
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
  let service: ServiceProcess;
  let client: OpenAI;
  let environment: Record<string, string> = {};
  let databaseUrl: string | undefined;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    databaseUrl = url?.reveal();
    if (url !== undefined) environment = { DATABASE_URL: url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    service = await startServiceProcess({ config: CONFIG, environment });
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
        sampling_params: { temperature: 0, top_p: 0.9, seed: 7, max_completion_tokens: 50 },
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
    const list = async () => (await client.evals.runs.list(evalId)).data.find(({ id }) => id === run.id);
    expect(await list()).toEqual(done);
    if (databaseUrl === undefined) return;
    // The sums of a run that has ended are stored.
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    await database.query("update eval_items set summary = 'no JSON' where run_id = $1", [run.id]);
    await database.end();
    expect(await list()).toEqual(done);
    const usage = Object.fromEntries(
      done.per_model_usage.map(({ model_name, invocation_count }) => [model_name, invocation_count]),
    );
    expect(usage).toEqual({ parrot: 2, judge: 6 });
    const items = await Array.fromAsync(client.evals.runs.outputItems.list(run.id, { eval_id: evalId, limit: 2 }));
    expect(items.map(({ status }) => status)).toEqual(["pass", "fail", "error"]);
    expect(items[0]).toMatchObject({
      datasource_item: ITEMS[0]?.item,
      sample: {
        input: [{ role: "user", content: "Paris" }],
        output: [{ role: "assistant", content: "Paris" }],
        ...{ temperature: 0, top_p: 0.9, seed: 7, max_completion_tokens: 50 },
      },
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
    const changes = { name: "Renamed at once", metadata: { team: "at once" } };
    for (let round = 0; round < 5; round += 1) {
      await client.evals.update(evalId, { name: "Before", metadata: { team: "before" } });
      const { name, metadata } = changes;
      await Promise.all([client.evals.update(evalId, { name }), client.evals.update(evalId, { metadata })]);
      expect(await client.evals.retrieve(evalId)).toMatchObject(changes);
    }
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

  test("answers 201 to new evals and runs", async () => {
    const created = await client.evals
      .create({ data_source_config: custom, testing_criteria: [equals] })
      .withResponse();
    const content = [{ item: { answer: "x" }, sample: { output_text: "x" } }];
    const data_source = { type: "jsonl", source: { type: "file_content", content } } as const;
    const run = await client.evals.runs.create(created.data.id, { data_source }).withResponse();
    expect([created.response.status, run.response.status]).toEqual([201, 201]);
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

  test("compares models and versions of a prompt over the same rows, with cost and time", async () => {
    const { id } = await client.evals.create({ data_source_config: custom, testing_criteria: [equals] });
    const content = { model: "other", messages: [{ role: "user", content: "{{city}}" }] };
    await service.post("/v1/prompts", { name: `compared ${kind}`, content, labels: ["production"] });
    const prompt = { id: `compared ${kind}`, version: "production", variables: { city: "{{item.question}}" } };
    const rows = { type: "file_content", content: ITEMS.slice(0, 2) };
    const compare = async (variants: object[], more: object = { input_messages: question }) => {
      const data_source = { type: "completions", source: rows, ...more };
      const answer = await service.post(`/v1/evals/${id}/comparisons`, { data_source, variants });
      // biome-ignore lint/suspicious/noExplicitAny: an answer that is no part of the client
      return { status: answer.status, body: (await answer.json()) as any };
    };
    const { body } = await compare([
      { name: "A", model: "parrot" },
      { name: "B", model: "other" },
      { name: "C", prompt, input_messages: null },
    ]);
    expect(body).toMatchObject({ object: "eval.comparison", eval_id: id });
    for (const run of body.runs) await ended(id, run.id);
    const query = { comparison_id: body.id } as OpenAI.Evals.RunListParams;
    const runs = (await client.evals.runs.list(id, query)).data as unknown as Record<string, unknown>[];
    expect(runs).toMatchObject([
      {
        name: "A",
        result_counts: { passed: 1, failed: 1 },
        sampling: { cost_usd: expect.any(Number), mean_duration_ms: expect.any(Number) },
        per_model_usage: [{ model_name: "parrot", invocation_count: 2 }],
      },
      { name: "B", result_counts: { passed: 2 }, sampling: { cost_usd: null } },
      { name: "C", model: prompt.id, result_counts: { passed: 2 } },
    ]);
    const [{ sampling, per_model_usage: usage }] = runs as never as [
      { sampling: { cost_usd: number }; per_model_usage: [{ prompt_tokens: number; completion_tokens: number }] },
    ];
    const [{ prompt_tokens: input, completion_tokens: output }] = usage;
    expect(sampling.cost_usd).toBeCloseTo(input * 0.001 + output * 0.01, 9);
    const items = await client.evals.runs.outputItems.list(String(runs[0]?.id), { eval_id: id });
    expect(items.data[0]?.sample).toMatchObject({ duration_ms: expect.any(Number), cost_usd: expect.any(Number) });
    const byPrompt = await client.evals.runs.outputItems.list(String(runs[2]?.id), { eval_id: id });
    expect(byPrompt.data.map(({ sample }) => sample.input)).toEqual([[], []]);
    const refused = await compare([{ model: "parrot" }, { name: "none" }]);
    expect(refused).toMatchObject({ status: 400, body: { error: { param: "variants[1].model" } } });
    expect((await client.evals.runs.list(id)).data).toHaveLength(3);
  });

  test("grades stored chat completions and responses, and asks another model with their messages", async () => {
    const metadata = { case: `stored-${kind}` };
    for (const [index, text] of ["Paris", "Lyon"].entries()) {
      const messages = [{ role: "user" as const, content: text }];
      const seed = index;
      await client.chat.completions.create({ model: "parrot", messages, store: true, metadata, seed });
      await client.responses.create({ model: "parrot", input: text, instructions: "Name it.", metadata });
    }
    await client.chat.completions.create({ model: "parrot", messages: [{ role: "user", content: "x" }], store: true });
    const grader = { ...equals, reference: "Paris" };
    const logs = { type: "logs", metadata } as const;
    const created = await client.evals.create({ data_source_config: logs, testing_criteria: [grader] });
    const { id } = created;
    expect(created.data_source_config).toMatchObject({
      type: "logs",
      metadata,
      schema: { required: ["item", "sample"] },
    });
    const run = async (data_source: object) => {
      const { id: runId } = await client.evals.runs.create(id, { data_source } as never);
      const { status, result_counts: counts, error } = await ended(id, runId);
      const items = await Array.fromAsync(client.evals.runs.outputItems.list(runId, { eval_id: id, order: "asc" }));
      return { status, ...counts, error, items };
    };
    const completions = { type: "completions", source: { type: "stored_completions" } };
    // Newest first.
    const graded = await run(completions);
    expect(graded).toMatchObject({ status: "completed", total: 2, passed: 1, failed: 1, error: null });
    expect(graded.items.map(({ sample }) => sample.output[0]?.content)).toEqual(["Lyon", "Paris"]);
    expect(graded.items[0]?.datasource_item).toMatchObject({ question: "Lyon", metadata });
    const other = await run({ ...completions, model: "other" });
    expect(other).toMatchObject({ total: 2, passed: 2 });
    expect(other.items[0]?.sample).toMatchObject({ model: "other", input: [{ role: "user", content: "Lyon" }] });
    const limited = { ...completions.source, limit: 1, model: "parrot" };
    expect(await run({ ...completions, source: limited })).toMatchObject({ total: 1, failed: 1 });
    const responses = { type: "responses", source: { type: "responses", instructions_search: "Name" } };
    expect(await run(responses)).toMatchObject({ status: "completed", total: 2, passed: 1, failed: 1 });
    const reference = { type: "item_reference", item_reference: "item.input" };
    const again = await run({ ...responses, model: "other", input_messages: reference });
    expect(again).toMatchObject({ total: 2, passed: 2 });
    expect(again.items[0]?.sample.input).toEqual([
      { role: "developer", content: "Name it." },
      { role: "user", content: "Lyon" },
    ]);
    const none = { type: "responses", model: "none" };
    expect(await run({ type: "responses", source: none })).toMatchObject({
      status: "failed",
      error: { code: "no_rows", message: expect.stringContaining("store: true") },
    });
  });

  test("an erased end user's answers leave the results of runs", async () => {
    const endUser = `ottilie-${kind}`;
    const messages = [{ role: "user" as const, content: "Paris" }];
    const metadata = { case: `erased-${kind}` };
    for (const safety_identifier of [endUser, "somebody"]) {
      await client.chat.completions.create({ model: "parrot", messages, store: true, metadata, safety_identifier });
    }
    const { id } = await client.evals.create({
      data_source_config: { type: "stored_completions", metadata },
      testing_criteria: [{ ...equals, reference: "Paris" }],
    });
    const data_source = { type: "completions", source: { type: "stored_completions" } } as const;
    const run = await client.evals.runs.create(id, { data_source });
    expect((await ended(id, run.id)).result_counts).toMatchObject({ total: 2, passed: 2 });
    const erased = await service.fetch(`/v1/organization/end_users/${endUser}/erase`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    expect(erased.status).toBe(200);
    const { data } = await client.evals.runs.outputItems.list(run.id, { eval_id: id });
    expect(data).toHaveLength(1);
  });

  test("the audit log says who changed evals and their runs", async () => {
    const created = await client.evals.create({
      name: "Audited",
      data_source_config: custom,
      testing_criteria: [equals],
    });
    const { id } = created;
    await client.evals.update(id, { name: "Audited again", metadata: { team: "a" } });
    // Nothing changes, and nothing is written.
    await client.evals.update(id, { name: "Audited again" });
    await client.evals.update(id, { metadata: { team: "a" } });
    await client.evals.update(id, {});
    const content = [{ item: { answer: "x" }, sample: { output_text: "x" } }];
    const data_source = { type: "jsonl", source: { type: "file_content", content } } as const;
    const run = await client.evals.runs.create(id, { name: "Graded", data_source });
    // OpenAI's document cancels by this path.
    const canceled = await service.post(`/v1/evals/${id}/runs/${run.id}`, {});
    expect(canceled.status, await canceled.text()).toBe(200);
    await client.evals.runs.delete(run.id, { eval_id: id });
    await client.evals.delete(id);
    const log = await service.fetch(`/v1/organization/audit_logs?resource_ids=${id}&resource_ids=${run.id}`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = (await log.json()) as { data: { type: string; actor: object }[] };
    expect(data.map(({ type }) => type).toSorted()).toEqual([
      "eval.created",
      "eval.deleted",
      "eval.run.canceled",
      "eval.run.created",
      "eval.run.deleted",
      "eval.updated",
    ]);
    const event = data.find(({ type }) => type === "eval.run.created");
    expect(event).toMatchObject({ "eval.run.created": { id: run.id, data: { eval_id: id, name: "Graded" } } });
  });

  test("parlance evals creates, compares, and fails below a share", async () => {
    const [graders, rows] = ["graders.json", "rows.jsonl"].map((name) => join(service.dataDirectory, name));
    await writeFile(graders ?? "", JSON.stringify([equals]));
    await writeFile(
      rows ?? "",
      `${ITEMS.slice(0, 2)
        .map((row) => JSON.stringify(row))
        .join("\n")}\n`,
    );
    const parlance = (...words: string[]) => {
      const connection = ["--url", service.origin, "--key", service.apiKey];
      return runParlance(["evals", ...words, ...connection], { cwd: service.dataDirectory });
    };
    const name = `terminal-${kind}`;
    expect(await parlance("create", name, graders ?? "")).toMatchObject({ code: 0 });
    const words = ["run", name, "--rows", rows ?? "", "--template", "{{item.question}}", "--model"];
    const compared = await parlance(...words, "parrot", "--model", "other", "--fail-under", "0.6");
    expect(compared.code).toBe(1);
    expect(compared.stdout).toMatch(/parrot +completed +1\/2 +1 +0 +0\.50 +\$\d/);
    expect(compared.stdout).toMatch(/other +completed +2\/2 +0 +0 +1\.00 +- +\d+ ms/);
    expect(await parlance(...words, "other", "--fail-under", "1")).toMatchObject({ code: 0 });
    const [run = ""] = /evalrun_\w+/.exec(compared.stdout) ?? [];
    const failed = await parlance("results", name, run, "--status", "fail");
    expect(JSON.parse(failed.stdout)).toMatchObject({ status: "fail", datasource_item: { question: "Lyon" } });
    expect((await parlance("runs", name)).stdout.match(/completed/g)).toHaveLength(3);
    expect(await parlance("run", name, "--model", "other")).toMatchObject({ code: 1 });
  });

  test("asks models as the caller is then, and ends with its key", async () => {
    const { projects } = new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey }).admin
      .organization;
    const { id: project } = await projects.create({ name: "Changing" });
    const account = await projects.serviceAccounts.create(project, { name: "app" });
    const { evals } = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const { id } = await evals.create({ data_source_config: custom, testing_criteria: [equals] });
    const begin = async (rows: number) => {
      const source = { type: "file_content" as const, content: new Array(rows).fill(ITEMS[0]) };
      const data_source = { type: "completions" as const, model: "slow", input_messages: question, source };
      const run = await evals.runs.create(id, { data_source });
      await eventually(async () => {
        const { result_counts } = await evals.runs.retrieve(run.id, { eval_id: id });
        expect(result_counts.failed).toBeGreaterThan(0);
      });
      return run.id;
    };
    const denied = await begin(40);
    await projects.modelPermissions.update(project, { mode: "deny_list", model_ids: ["slow"] });
    await eventually(async () => {
      const run = await evals.runs.retrieve(denied, { eval_id: id });
      expect(run.status).toBe("completed");
      expect(run.result_counts.errored).toBeGreaterThan(0);
    });
    await projects.modelPermissions.update(project, { mode: "deny_list", model_ids: [] });
    const ended = await begin(200);
    const successor = await projects.serviceAccounts.create(project, { name: "reader" });
    await projects.apiKeys.delete(account.api_key?.id ?? "", { project_id: project });
    const reader = service.client({ apiKey: successor.api_key?.value ?? "" }).evals;
    await eventually(async () => {
      const run = await reader.runs.retrieve(ended, { eval_id: id });
      expect(run).toMatchObject({ status: "failed", error: { code: "invalid_api_key" } });
      expect(run.result_counts.failed).toBeLessThan(40);
    });
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
  const first = await startServiceProcess({ config: CONFIG, environment });
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
  const second = await startServiceProcess({ config: CONFIG, environment });
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
