import { expect, test } from "vitest";
import { readCompletionBody } from "./completions-body.ts";
import { toCompletionCall } from "./completions-call.ts";

const moderated = (fields: object) =>
  toCompletionCall(readCompletionBody({ model: "m", ...fields }), {}, "ignore").moderationInput();

test("moderates every prompt with its suffix, and texts in fields that only an upstream knows", () => {
  const { texts, unmoderatable } = moderated({
    prompt: ["one", "two"],
    suffix: "end",
    max_tokens: 5,
    stop: ["."],
    messages: [{ role: "user", content: "a text elsewhere" }],
  });
  expect(texts.slice(0, 4)).toEqual(["one", "end", "two", "end"]);
  expect(texts.slice(4).join()).toContain("a text elsewhere");
  expect(texts.join()).not.toContain("max_tokens");
  expect(unmoderatable).toBeUndefined();
});

test("names token IDs as what cannot be moderated", () => {
  expect(moderated({ prompt: [1, 2] }).unmoderatable).toMatchObject({ param: "prompt" });
});
