/** Files that are made to keep a reader busy. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { zip } from "../../../test/support/vector-stores/sample-documents.ts";
import { chunkText } from "./chunk-text.ts";
import { readDocument } from "./document-reader.ts";
import { textOfDocument } from "./document-text.ts";
import { REFUSED_PICTURES } from "./pictures.ts";

const CHUNKING = { maxTokens: 100, overlapTokens: 20 };
const never = new AbortController().signal;
const CPU_SECONDS = 20;

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** CPU time of this thread. */
async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}

const SIZE = 1_000_000;

test.each([
  ["spaces within a line", `a${" ".repeat(SIZE)}b`],
  ["no-break spaces", `a${"\u00a0".repeat(SIZE)}b`],
  ["lines of spaces", `a${" \n".repeat(SIZE / 2)}b`],
  ["numerals that are no digits", "\u00bd ".repeat(SIZE / 2)],
  ["closing tags of HTML", `<html>${"</p>".repeat(SIZE / 4)}end`],
])("reads %s in linear time", async (_name, content) => {
  const seconds = await cpuSecondsOf(async () => {
    for (const _chunk of chunkText(await textOfDocument(Buffer.from(content), "a.txt", REFUSED_PICTURES), CHUNKING));
  });
  expect(seconds).toBeLessThan(5);
});

const nested = (tag: string) => `<${tag}>`.repeat(SIZE / 4);
test.each([
  ["DOCX", zip({ "word/document.xml": nested("w:p") }), "a.docx"],
  ["HTML", Buffer.from(nested("b")), "a.html"],
])("refuses %s with deeply nested elements", async (_name, content, filename) => {
  const seconds = await cpuSecondsOf(async () => {
    const reading = textOfDocument(content, filename, REFUSED_PICTURES);
    await expect(reading).rejects.toMatchObject({ code: "invalid_file", message: expect.stringContaining("nested") });
  });
  expect(seconds).toBeLessThan(5);
});

/** A page whose content expands a thousand times for each filter. */
function nestedFlate(): Buffer {
  const content = deflateSync(deflateSync(Buffer.from("q ".repeat(30_000_000))));
  const head = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj
4 0 obj<</Length ${content.length}/Filter[/FlateDecode/FlateDecode]>>stream
`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>")]);
}

test.runIf(process.platform === "linux")("ends a reader at its budget of CPU time", async () => {
  const options = { filename: "a.pdf", chunking: CHUNKING, cpuSeconds: 1 };
  const reading = Array.fromAsync(readDocument(once(nestedFlate()), options, never));
  await expect(reading).rejects.toMatchObject({
    code: "invalid_file",
    message: expect.stringMatching(/1 s of CPU time.*max_document_cpu_seconds/),
  });
});

test.runIf(process.platform === "linux")(
  "does not blame the file for a reader that was killed from outside",
  async () => {
    async function* killing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("text");
      // A sandbox that is killed while it is set up leaves a reader that finishes.
      const reader = await vi.waitUntil(
        () => childrenOf(process.pid).findLast((pid) => [pid, ...descendantsOf(pid)].some(isReader)),
        { timeout: 200_000, interval: 1 },
      );
      process.kill(reader, "SIGKILL");
    }
    const options = { filename: "a.txt", chunking: CHUNKING, cpuSeconds: CPU_SECONDS };
    const reading = Array.fromAsync(readDocument(killing(), options, never));
    await expect(reading).rejects.toMatchObject({ kind: "unavailable", code: "server_is_overloaded" });
  },
);

/** Processes end between two looks. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function childrenOf(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  return threads
    .flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).trim().split(" "))
    .filter((child) => child !== "")
    .map(Number);
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Its command is that of the process that starts it until it has begun to run. */
function isReader(pid: number): boolean {
  const [program = "", ...words] = read(`/proc/${pid}/cmdline`).split("\0");
  return program === process.execPath && words.some((word) => word.includes("document-child"));
}
