import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ByteRange } from "../files/index.ts";
import { openFileRows } from "./open-file-rows.ts";

const resource = { projectId: "proj_a", id: "file-a" };

/** A file in memory, and the ranges that were read of it. */
function fileOf(text: string) {
  const bytes = Buffer.from(text);
  const ranges: (ByteRange | undefined)[] = [];
  const row = { ...resource, purpose: "evals", filename: "rows.jsonl", bytes: bytes.length, isStored: 1 } as const;
  const files = {
    find: async () => ({ ...row, createdAt: 0, expiresAt: Number.MAX_SAFE_INTEGER }),
    readStored: async (_id: string, range?: ByteRange) => {
      ranges.push(range);
      const { offset, length } = range ?? { offset: 0, length: bytes.length };
      async function* chunks() {
        yield bytes.subarray(offset, offset + length);
      }
      return chunks();
    },
  };
  return { files, ranges };
}

test("reads each row when it is needed, after all were checked", async () => {
  const texts = ["a".repeat(400_000), "b", "c".repeat(400_000)];
  const lines = texts.map((text) => JSON.stringify({ item: { text } }));
  const { files, ranges } = fileOf(`\n${lines.join("\r\n\n")}\n`);
  const rows = await openFileRows(files, resource, new AbortController().signal);
  expect([rows.count, ranges]).toEqual([3, [undefined]]);
  for (const [position, text] of [...texts.entries()].reverse()) {
    expect(await rows.read(position)).toEqual({ item: { text } });
  }
  expect(await rows.read(3)).toBeUndefined();
  expect(ranges).toHaveLength(4);
});

test("gives others turns, and stops when it is aborted", async () => {
  const { files } = fileOf('{"item":{}}\n'.repeat(10_000));
  const controller = new AbortController();
  const opening = openFileRows(files, resource, controller.signal);
  opening.catch(() => {});
  await nextTurn();
  controller.abort(new Error("stopped"));
  await expect(opening).rejects.toThrow("stopped");
});
