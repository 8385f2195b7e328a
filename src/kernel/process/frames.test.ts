import { expect, test } from "vitest";
import { readFrames, toFrame } from "./frames.ts";

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

test.each([1, 3, 7, 1000])("reads messages that arrive in pieces of %i bytes", async (size) => {
  const messages = ["", "one", "zwölf", "x".repeat(50), ""];
  const read = await Array.fromAsync(readFrames(inPieces(Buffer.concat(messages.map(toFrame)), size), 50));
  expect(read.map(String)).toEqual(messages);
});

test("refuses a longer message before it arrives, and a stream that ends within one", async () => {
  let count = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      count += 1;
      yield Buffer.from("x".repeat(1000));
    }
  }
  const limit = Array.fromAsync(readFrames(endless(), 1e6));
  await expect(limit).rejects.toThrow("A message of 2021161080 bytes was announced; the limit is 1000000 bytes.");
  expect(count).toBe(1);
  for (const length of [2, 6]) {
    const cut = Array.fromAsync(readFrames(inPieces(toFrame("message").subarray(0, length), 99), 99));
    await expect(cut).rejects.toThrow("within a message");
  }
});
