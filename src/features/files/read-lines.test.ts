import { expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

async function* inChunks(text: Buffer, size: number) {
  for (let start = 0; start < text.length; start += size) yield text.subarray(start, start + size);
}

const TEXT = Buffer.from('\uFEFF{"a":1}\r\n\n  {"b":"ä"}  \n\t\r\n{"c":3}');

test.each([1, 2, 3, 7, 1000])("finds each line, in chunks of %d bytes", async (size) => {
  const lines = await Array.fromAsync(readLines(inChunks(TEXT, size), 100));
  expect(lines.map(({ number, bytes }) => [number, bytes?.toString()])).toEqual([
    [1, '{"a":1}'],
    [2, ""],
    [3, '{"b":"ä"}'],
    [4, ""],
    [5, '{"c":3}'],
  ]);
  for (const { offset, bytes } of lines) {
    expect(TEXT.subarray(offset, offset + (bytes?.length ?? 0))).toEqual(bytes);
  }
});

test.each([1, 4, 1000])("reports a line that is too long without its bytes, in chunks of %d bytes", async (size) => {
  const text = Buffer.from(`short\n${"x".repeat(30)}\nlast\n`);
  const lines = await Array.fromAsync(readLines(inChunks(text, size), 10));
  expect(lines.map(({ number, bytes }) => [number, bytes?.toString()])).toEqual([
    [1, "short"],
    [2, undefined],
    [3, "last"],
  ]);
  expect(text.subarray(lines[2]?.offset).toString()).toBe("last\n");
});
