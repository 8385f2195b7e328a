import { expect, test } from "vitest";
import { fillTemplate } from "./fill-template.ts";
import { evaluateFormula } from "./formula.ts";
import { cosine, similarity } from "./text-similarity.ts";

test("evaluates formulas with precedence, functions and names of graders", () => {
  const scores = { a: 0.5, b: 0.25 };
  for (const [formula, value] of [
    ["a + b * 2", 1],
    ["(a + b) * 2", 1.5],
    ["-a ^ 2", -0.25],
    ["2 ^ 3 ^ 2", 512],
    ["max(a, b, 0.7) - min(a, b)", 0.45],
    ["sqrt(b) / 2", 0.25],
    ["10 - 3 - 2", 5],
  ] as const) {
    expect([formula, evaluateFormula(formula, scores)]).toEqual([formula, expect.closeTo(value, 10)]);
  }
  for (const invalid of ["a +", "c", "a b", "min(a", "a; b", "constructor", "(".repeat(100)]) {
    expect(() => evaluateFormula(invalid, scores)).toThrow(/calculate_output/);
  }
});

test("fills templates with values of the row and the sample, once", () => {
  const values = {
    item: { city: { name: "Łódź" }, text: "{{item.city.name}}" },
    sample: { output_json: { ok: true } },
  };
  expect(fillTemplate("{{ item.city.name }}: {{item.text}}", values)).toBe("Łódź: {{item.city.name}}");
  expect(fillTemplate("{{sample.output_json}} {{other}}", values)).toBe('{"ok":true} {{other}}');
  expect(() => fillTemplate("{{item.country}}", values)).toThrow("'item.country'");
  expect(() => fillTemplate("{{item.constructor}}", values)).toThrow("'item.constructor'");
});

const METRICS = ["fuzzy_match", "bleu", "gleu", "meteor", "rouge_1", "rouge_2", "rouge_l"] as const;

test.each(METRICS)("%s is 1 for equal texts, 0 for unlike ones and in between for similar ones", (metric) => {
  const text = "the cat sat on the mat with a hat";
  const same = similarity(metric, text, text);
  expect(same).toBeGreaterThan(0.99);
  expect(same).toBeLessThanOrEqual(1);
  expect(similarity(metric, "zzz qqq", "11111111111111111 2222222222222222")).toBeLessThan(0.05);
  const similar = similarity(metric, "the cat sat on a mat with a hat", text);
  expect(similar).toBeGreaterThan(0.3);
  expect(similar).toBeLessThan(1);
});

test("computes the published values of ROUGE and METEOR's parts", () => {
  // Three of three words are in the reference of six; two of two bigrams are in that of five.
  const reference = "the cat sat on the mat";
  expect(similarity("rouge_1", "the cat sat", reference)).toBeCloseTo(6 / 9, 10);
  expect(similarity("rouge_2", "the cat sat", reference)).toBeCloseTo(4 / 7, 10);
  expect(similarity("rouge_l", "mat the cat", reference)).toBeCloseTo(4 / 9, 10);
  // Precision 1, recall 1/2, one chunk of three matches.
  const mean = (10 * 0.5) / (0.5 + 9);
  expect(similarity("meteor", "the cat sat", reference)).toBeCloseTo(mean * (1 - 0.5 * (1 / 3) ** 3), 10);
  expect(similarity("gleu", "the cat sat", reference)).toBeCloseTo(6 / 18, 10);
  expect(similarity("fuzzy_match", "kitten", "sitting")).toBeCloseTo(1 - 3 / 7, 10);
  expect(cosine([1, 0], [1, 1])).toBeCloseTo(Math.SQRT1_2, 10);
});
