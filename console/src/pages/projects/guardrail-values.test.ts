import { expect, test } from "vitest";
import { toList, toValues } from "./guardrail-values.ts";

const LIST = [
  { type: "moderation", input: "block" },
  { type: "pii", entities: ["EMAIL_ADDRESS"], on: ["input", "output"] },
  { type: "words", action: "mask", words: ["Falcon", "Eagle"] },
  { type: "words", words: ["Heron"] },
];

test("the values of a list are its first guardrail of each type, with the defaults of the service", () => {
  expect(toValues(LIST)).toMatchObject({
    pii: "mask_and_restore",
    secrets: "off",
    words: "mask",
    wordList: "Falcon\nEagle",
  });
});

test("a change keeps the order, other fields, further guardrails and the moderation policy", () => {
  const values = { ...toValues(LIST), pii: "block", secrets: "mask", wordList: " Owl \n\n" } as const;
  expect(toList(LIST, values)).toEqual([
    { type: "moderation", input: "block" },
    { type: "pii", entities: ["EMAIL_ADDRESS"], on: ["input", "output"], action: "block" },
    { type: "words", action: "mask", words: ["Owl"] },
    { type: "words", words: ["Heron"] },
    { type: "secrets", action: "mask" },
  ]);
});

test("a guardrail that is off is removed", () => {
  expect(toList(LIST, { ...toValues(LIST), pii: "off", words: "off" })).toEqual([LIST[0], LIST[3]]);
});

test("rules have their model, and a webhook its name", () => {
  const values = { ...toValues([]), topics: "block", rules: "a\nb", judge: "judge", webhook: " dlp " } as const;
  expect(toList([], values)).toEqual([
    { type: "topics", rules: ["a", "b"], model: "judge", action: "block" },
    { type: "webhook", webhook: "dlp" },
  ]);
});
