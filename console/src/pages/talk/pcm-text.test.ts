import { expect, test } from "vitest";
import { fromBase64, toBase64 } from "./pcm-text.ts";

test("reads what it wrote, sample for sample", () => {
  const samples = Int16Array.from([0, 1, -1, 32_767, -32_768, 258]);
  expect(toBase64(samples)).toBe("AAABAP///38AgAIB");
  expect(fromBase64(toBase64(samples))).toEqual(samples);
});
