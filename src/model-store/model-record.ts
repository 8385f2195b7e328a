/** The record beside a model's files: sizes, hashes and sources. Its presence marks a finished pull. */

import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TASKS } from "../contracts/task.ts";
import { lazy } from "../kernel/lazy.ts";

export const RECORD_NAME = "parlance-model.json";

const recordSchema = lazy.object(() => ({
  id: z.string().min(1),
  task: z.enum(TASKS).optional(),
  license: z.string().optional(),
  /** Spelling of records that 0.1.0 wrote. */
  licence: z.string().optional(),
  pulledAt: z.iso.datetime(),
  files: z
    .array(
      z.object({
        /** A plain file name, because a record must not refer outside its folder. */
        name: z.string().regex(/^[^/\\]+$/),
        bytes: z.int().nonnegative(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        source: z.string(),
      }),
    )
    .min(1),
}));

export type ModelRecord = Omit<z.infer<typeof recordSchema>, "licence">;
export type RecordedFile = ModelRecord["files"][number];

/** Undefined without a readable record: the model is then pulled again. */
export async function readRecord(folder: string): Promise<ModelRecord | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, RECORD_NAME), "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const { licence, ...record } = recordSchema.parse(JSON.parse(text));
    return { ...record, license: record.license ?? licence };
  } catch {
    return undefined;
  }
}

export async function writeRecord(folder: string, record: ModelRecord): Promise<void> {
  const path = join(folder, RECORD_NAME);
  await writeFile(`${path}.new`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** Returns the recorded files that are missing or have another size. */
export async function damagedFiles(folder: string, record: ModelRecord): Promise<string[]> {
  const sizes = await Promise.all(record.files.map(({ name }) => sizeOf(join(folder, name))));
  return record.files.filter(({ bytes }, index) => sizes[index] !== bytes).map(({ name }) => name);
}

/** Returns the size of a regular file; undefined without one. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
