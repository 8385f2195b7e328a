/** What evals may store in a project. */

import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
evals: { max_size_per_project: 1MB }
`;
const grader = {
  type: "string_check",
  name: "equal",
  input: "{{sample.output_text}}",
  reference: "a",
  operation: "eq",
} as const;
const definition = {
  data_source_config: { type: "custom" as const, item_schema: { type: "object" } },
  testing_criteria: [grader],
};

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

test("a run whose project is full fails with its results so far, and nothing further begins", async () => {
  const client = service.client({ maxRetries: 0 });
  const { id: evalId } = await client.evals.create(definition);
  const row = { item: { padding: "x".repeat(100_000) }, sample: { output_text: "a" } };
  const rows = new Array(40).fill(JSON.stringify(row)).join("\n");
  const file = await client.files.create({ purpose: "evals", file: await toFile(Buffer.from(rows), "rows.jsonl") });
  const data_source = { type: "jsonl", source: { type: "file_id", id: file.id } } as const;
  const run = await client.evals.runs.create(evalId, { data_source });
  const retrieve = () => client.evals.runs.retrieve(run.id, { eval_id: evalId });
  await eventually(async () => expect((await retrieve()).status).toBe("failed"));
  const { error, result_counts: counts } = await retrieve();
  expect(error).toMatchObject({
    code: "insufficient_quota",
    message: expect.stringContaining("evals.max_size_per_project"),
  });
  // Rows that are graded at the same time exceed the limit together.
  expect(counts.passed).toBeGreaterThan(8);
  expect(counts.passed).toBeLessThan(16);
  const full = { status: 429, code: "insufficient_quota" };
  await expect(client.evals.create(definition)).rejects.toMatchObject(full);
  await expect(client.evals.runs.create(evalId, { data_source })).rejects.toMatchObject(full);
  expect((await client.evals.runs.list(evalId)).data).toHaveLength(1);
});
