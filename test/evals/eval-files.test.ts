/** Rows in files, which may be far larger than a request. */

import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = "builtin_models: false";
const grader = {
  type: "string_check",
  name: "equal",
  input: "{{sample.output_text}}",
  reference: "{{item.answer}}",
  operation: "eq",
} as const;

let service: Service;
let evalId: string;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  const { id } = await service.client().evals.create({
    name: "Files",
    data_source_config: { type: "custom", item_schema: { type: "object" } },
    testing_criteria: [grader],
  });
  evalId = id;
});
afterAll(() => service.stop());

/** Grades the rows of a file with these lines, and resolves with the run at its end. */
async function runFile(lines: readonly string[]) {
  const client = service.client({ maxRetries: 0 });
  const file = await toFile(Buffer.from(lines.join("\n")), "rows.jsonl");
  const { id } = await client.files.create({ purpose: "evals", file });
  const run = await client.evals.runs.create(evalId, {
    data_source: { type: "jsonl", source: { type: "file_id", id } },
  });
  const retrieve = () => client.evals.runs.retrieve(run.id, { eval_id: evalId });
  await eventually(async () => expect((await retrieve()).status).toBeOneOf(["completed", "failed"]));
  return retrieve();
}

test("refuses a line with more values than a request may have, by its number", async () => {
  const large = JSON.stringify({ item: { a: new Array(3_000_000).fill([]) } });
  expect(await runFile([JSON.stringify({ item: {} }), large])).toMatchObject({
    status: "failed",
    error: { code: "invalid_line", message: expect.stringMatching(/^Line 2 .* has more than 100000 values/) },
  });
});

test("refuses a file of blank lines", async () => {
  const row = JSON.stringify({ item: {} });
  expect(await runFile([row, ...new Array(20_000).fill(""), row])).toMatchObject({
    status: "failed",
    error: { code: "invalid_line", message: expect.stringContaining("10000 blank lines") },
  });
});

test("grades large rows beside small ones", async () => {
  const padding = "x".repeat(3_000_000);
  const rowOf = (answer: string, text: string) => ({ item: { answer, padding }, sample: { output_text: text } });
  const rows = [rowOf("a", "a"), { item: { answer: "b" }, sample: { output_text: "c" } }, rowOf("d", "d")];
  const run = await runFile(["", ...rows.map((row) => JSON.stringify(row)), ""]);
  expect(run).toMatchObject({ status: "completed", result_counts: { total: 3, passed: 2, failed: 1, errored: 0 } });
});

test("refuses a comparison whose runs store too much together, and takes the rows as a file", async () => {
  const padding = "x".repeat(3_000_000);
  const template = [{ role: "user", content: "{{item.answer}}" }];
  const compare = (source: object, count: number) =>
    service.post(`/v1/evals/${evalId}/comparisons`, {
      data_source: { type: "completions", source, input_messages: { type: "template", template } },
      variants: new Array(count).fill({ model: "none" }),
    });
  const rows = { type: "file_content", content: [{ item: { answer: "a", padding } }] };
  const refused = await compare(rows, 7);
  const { error } = (await refused.json()) as { error?: { code: string } };
  expect([refused.status, error?.code]).toEqual([400, "comparison_too_large"]);
  expect((await compare(rows, 2)).status).toBe(200);
  const file = await toFile(Buffer.from(JSON.stringify(rows.content[0])), "rows.jsonl");
  const { id } = await service.client().files.create({ purpose: "evals", file });
  expect((await compare({ type: "file_id", id }, 7)).status).toBe(200);
});
