import { expect, test } from "vitest";
import { LARGE_JSON_BYTES } from "../../kernel/json/large-json.ts";
import { readBatchLine } from "./read-batch-line.ts";

const endpoint = "/v1/embeddings";
const lineOf = (input: string, url = endpoint) =>
  Buffer.from(JSON.stringify({ custom_id: "ä", method: "POST", url, body: { model: "m", input } }));

test.each([
  ["a short line", "Größe"],
  ["a large line, in a thread", "Größe ".repeat(LARGE_JSON_BYTES / 4)],
])("reads ID and request of %s", async (_name, input) => {
  const parsed = await readBatchLine(lineOf(input), { endpoint, withBody: true });
  if ("code" in parsed) throw new Error(parsed.message);
  expect(parsed.customId).toBe("ä");
  expect(JSON.parse(Buffer.from(parsed.body).toString())).toEqual({ model: "m", input });
  const { body } = (await readBatchLine(lineOf(input), { endpoint, withBody: false })) as { body: Uint8Array };
  expect(body).toHaveLength(0);
});

test.each([10, LARGE_JSON_BYTES])("reports the problem of a line with %d characters", async (length) => {
  const problem = await readBatchLine(lineOf("x".repeat(length), "/v1/other"), { endpoint, withBody: true });
  expect(problem).toMatchObject({ code: "mismatched_endpoint", param: "url" });
});
