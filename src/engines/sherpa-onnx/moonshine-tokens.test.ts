import { expect, test } from "vitest";
import { moonshineTokens } from "./moonshine-tokens.ts";

const vocabulary = ["<unk>", "<s>", "</s>", ...Array.from({ length: 31_997 }, (_, index) => `▁word${index}`)];
const source = `const a = "${"A".repeat(120_000)}";\nconst b = "${Buffer.from(vocabulary.join("\n")).toString("base64")}";`;

test("every id has a line with its text in base64, Llama's first and Moonshine's own after them", () => {
  const lines = moonshineTokens(source).trimEnd().split("\n");
  expect(lines).toHaveLength(32_768);
  const decoded = lines.map((line) => {
    const [text = "", id] = line.split("\t");
    return [Buffer.from(text, "base64").toString(), Number(id)];
  });
  expect(decoded.slice(0, 4)).toEqual([
    ["<unk>", 0],
    ["<s>", 1],
    ["</s>", 2],
    ["▁word0", 3],
  ]);
  expect(decoded[32_000]).toEqual(["<<ST_0>>", 32_000]);
  expect(new Set(decoded.map(([text]) => text)).size).toBe(32_768);
});

test("a source without the vocabulary is refused", () => {
  expect(() => moonshineTokens("nothing")).toThrow("vocabulary");
});
