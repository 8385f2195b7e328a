import { expect, test } from "vitest";
import { contains } from "./contains.ts";

/** A text of two letters, the same for the same seed. */
function lettersOf(seed: number, length: number): string {
  let state = seed + 1;
  let text = "";
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += state % 7 === 0 ? "b" : "a";
  }
  return text;
}

test("finds what String.prototype.includes finds", () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const text = lettersOf(seed, 400);
    const start = (seed * 31) % 300;
    const part = text.slice(start, start + 64 + (seed % 60));
    expect(contains(text, part)).toBe(true);
    const changed = `${part.slice(0, -1)}${part.endsWith("a") ? "b" : "a"}`;
    expect(contains(text, changed)).toBe(text.includes(changed));
    expect(contains(text, part.slice(0, seed % 64))).toBe(true);
  }
  expect(contains("a".repeat(70), "a".repeat(71))).toBe(false);
  expect(contains("a", "")).toBe(true);
});

test("takes time that grows with the length of repetitive texts, not with its square", () => {
  const text = "a".repeat(400_000);
  const part = `${"a".repeat(100_000)}b${"a".repeat(100_000)}`;
  const { user } = process.threadCpuUsage();
  expect(contains(text, part)).toBe(false);
  // V8's own search takes more than ten seconds.
  expect((process.threadCpuUsage().user - user) / 1000).toBeLessThan(1000);
});
