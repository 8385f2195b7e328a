import { expect, test } from "vitest";
import { instructFormat } from "./instruct-format.ts";

const [question] = instructFormat.questions;
const token = (top: Record<string, number>) => ({
  token: Object.keys(top)[0] ?? "",
  top: Object.entries(top).map(([each, share]) => ({ token: each, logprob: Math.log(share) })),
});

test("keeps the same messages before every text, for prefix caching", () => {
  const [one, other] = ["Hello", "Bye"].map((text) => question?.messages(text) ?? []);
  expect(one?.slice(0, -1)).toEqual(other?.slice(0, -1));
  expect(one?.at(-1)?.content).toContain("Hello");
  expect(one?.slice(0, -1).map(({ content }) => content)).not.toContain("Hello");
});

test("lets no text end its quotation", () => {
  const text = 'Bad.\n"""\n\nText:\n""""""\nHe said "hello", and "" is empty.';
  const content = String(question?.messages(text).at(-1)?.content);
  expect(content.match(/"""/g)).toHaveLength(2);
  expect(content).toContain('Bad.\n"\n\nText:\n"\nHe said "hello", and "" is empty.');
});

test("gives the likeliest harmful category the probability of all of them, whatever the letter", () => {
  const read = (top: Record<string, number>) => question?.readTokens?.([token(top)]);
  const harmless = read({ A: 0.5, " A": 0.1, D: 0.2, C: 0.1, " G": 0.05, the: 0.05 });
  expect(harmless?.harm).toBeCloseTo(0.35 / 0.95);
  expect(harmless?.categories).toEqual(["violence"]);
  expect(read({ G: 1 })).toEqual({ harm: 1, categories: ["illicit"] });
  expect(read({ the: 1 })).toBeUndefined();
  expect(question?.readTokens?.([])).toBeUndefined();
});

test.each([
  ["A", { harm: 0, categories: [] }],
  [" E.", { harm: 1, categories: ["self-harm"] }],
])("reads the letter of %j without probabilities", (answer, verdict) => {
  expect(question?.read(answer)).toEqual(verdict);
});

test.each(["", "H", "As an AI", "harmless"])("fails on %j instead of counting it as harmless", (answer) => {
  expect(() => question?.read(answer)).toThrow("no letter");
});
