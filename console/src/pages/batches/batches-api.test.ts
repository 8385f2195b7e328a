import { expect, test } from "vitest";
import { summarizeInput } from "./batches-api.ts";

const line = (id: string, model: string) =>
  JSON.stringify({ custom_id: id, method: "POST", url: "/v1/embeddings", body: { model, input: "Hi" } });

test("summarizes a file of requests", () => {
  expect(summarizeInput(`${line("1", "a")}\n\n${line("2", "b")}\n${line("3", "a")}\n`)).toEqual({
    ...{ requests: 3, endpoint: "/v1/embeddings", models: ["a", "b"], problem: undefined },
  });
});

test.each([
  ["", "The file has no requests."],
  [`${line("1", "a")}\nnot JSON`, "Line 2 is not valid JSON."],
  ['{"url": "/v1/embeddings", "body": {}}', "Line 1 has no custom_id."],
])("names what is wrong with %j", (text, problem) => {
  expect(summarizeInput(text).problem).toBe(problem);
});
