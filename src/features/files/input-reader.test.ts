import { expect, test } from "vitest";
import { InputReader } from "./input-reader.ts";

const LINE = "x".repeat(999);
const INPUT = Buffer.from(`${LINE}\n`.repeat(1000));

function readerOf(reads: number[], failures = 0) {
  let left = failures;
  return new InputReader(INPUT.length, async ({ offset, length }) => {
    reads.push(offset);
    if (left-- > 0) throw new Error("the store is away");
    async function* bytes() {
      yield INPUT.subarray(offset, offset + length);
    }
    return bytes();
  });
}

test("reads lines that follow one another together", async () => {
  const reads: number[] = [];
  const reader = readerOf(reads);
  for (let index = 0; index < 1000; index += 1) {
    expect((await reader.line({ offset: index * 1000, length: 999 })).toString()).toBe(LINE);
  }
  expect(reads.length).toBe(4);
  expect((await reader.line({ offset: 5, length: 3 })).toString()).toBe("xxx");
});

test("reads again after a failure", async () => {
  const reads: number[] = [];
  const reader = readerOf(reads, 1);
  await expect(reader.line({ offset: 0, length: 999 })).rejects.toThrow("away");
  expect((await reader.line({ offset: 0, length: 999 })).toString()).toBe(LINE);
  expect(reads).toEqual([0, 0]);
});
