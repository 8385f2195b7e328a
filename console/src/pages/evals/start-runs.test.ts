import { expect, test } from "vitest";
import { variantsOf } from "./start-runs.ts";

test("makes a run of each model and of each version of a prompt", () => {
  const variables = '{"city": "{{item.city}}"}';
  expect(variantsOf({ models: ["small"], prompts: ["a@b@staging"], variables })).toEqual([
    { name: "small", model: "small" },
    {
      name: "a@b@staging",
      prompt: { id: "a@b", version: "staging", variables: { city: "{{item.city}}" } },
      input_messages: null,
    },
  ]);
  expect(variantsOf({ models: ["small"], prompts: [], variables: "no JSON" })).toHaveLength(1);
  expect(() => variantsOf({ models: [], prompts: ["a@1"], variables: "[]" })).toThrow("JSON object");
});
