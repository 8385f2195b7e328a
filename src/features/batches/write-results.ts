/** Writes the output and error files of a batch that ends. */

import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileRow, FileStore } from "../files/index.ts";
import type { BatchParts } from "./batch-parts.ts";
import type { BatchRow } from "./batch-rows.ts";

export interface ResultsOptions {
  files: Pick<FileStore, "createOutput">;
  batch: Pick<BatchRow, "id" | "projectId" | "keyId" | "outputExpiresAfterSeconds">;
  parts: BatchParts;
  /** Lines of the error file for what was not answered. */
  unanswered: AsyncIterable<string>;
  /** Folder for temporary files. */
  directory: string;
}

/** Resolves with the files, which are not shown yet; undefined for one without lines. */
export async function writeResults(options: ResultsOptions): Promise<{ output?: FileRow; errors?: FileRow }> {
  const { parts, unanswered } = options;
  async function* linesOf(isError: boolean) {
    for await (const answer of parts.read()) if (answer.isError === isError) yield `${answer.json}\n`;
    if (isError) for await (const line of unanswered) yield `${line}\n`;
  }
  const output = await writeFile(options, "output", linesOf(false));
  const errors = await writeFile(options, "error", linesOf(true));
  return { ...(output && { output }), ...(errors && { errors }) };
}

async function writeFile(
  { files, batch, directory }: ResultsOptions,
  name: "output" | "error",
  lines: AsyncIterable<string>,
): Promise<FileRow | undefined> {
  const path = join(directory, name);
  await pipeline(Readable.from(lines), createWriteStream(path, { mode: 0o600 }));
  const { size: bytes } = await stat(path);
  try {
    if (bytes === 0) return undefined;
    return await files.createOutput({
      projectId: batch.projectId,
      purpose: "batch_output",
      filename: `${batch.id}_${name}.jsonl`,
      path,
      bytes,
      createdBy: batch.keyId,
      expiresAfterSeconds: batch.outputExpiresAfterSeconds ?? undefined,
    });
  } finally {
    await rm(path, { force: true });
  }
}
