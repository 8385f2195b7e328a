import { expect, test } from "vitest";
import { MoonshineTokenizer } from "./moonshine-tokenizer.ts";

const vocabulary = ["<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "▁caf", "."];
while (vocabulary.length < 32_000) vocabulary.push(`▁word${vocabulary.length}`);
const source = `const a = "${"A".repeat(120_000)}";\nconst b = "${Buffer.from(vocabulary.join("\n")).toString("base64")}";`;

test("decodes pieces and bytes and omits control tokens", () => {
  const tokenizer = MoonshineTokenizer.parse(source);
  expect(tokenizer.decode([1, 5, 3, 4, 6, 31_999, 32_000, 2])).toBe("café. word31999");
});

test("rejects a source without the vocabulary", () => {
  expect(() => MoonshineTokenizer.parse("nothing")).toThrow("vocabulary");
});
