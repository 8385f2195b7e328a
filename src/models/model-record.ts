/** The note beside a model's files: what they are and where they came from. Its presence says that the pull was finished. */

import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TASKS } from "../engines/task.ts";

export const RECORD_NAME = "parlance-model.json";

const recordSchema = z.object({
  id: z.string().min(1),
  task: z.enum(TASKS).optional(),
  licence: z.string().optional(),
  pulledAt: z.iso.datetime(),
  files: z
    .array(
      z.object({
        /** A plain name: a record never reaches outside its folder. */
        name: z.string().regex(/^[^/\\]+$/),
        bytes: z.int().nonnegative(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        source: z.string(),
      }),
    )
    .min(1),
});

export type ModelRecord = z.infer<typeof recordSchema>;
export type RecordedFile = ModelRecord["files"][number];

/** Undefined when there is none, or one that cannot be read: then the model is pulled again. */
export async function readRecord(folder: string): Promise<ModelRecord | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, RECORD_NAME), "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function writeRecord(folder: string, record: ModelRecord): Promise<void> {
  const path = join(folder, RECORD_NAME);
  await writeFile(`${path}.new`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** The recorded files that are missing or have another size. */
export async function damagedFiles(folder: string, record: ModelRecord): Promise<string[]> {
  const sizes = await Promise.all(record.files.map(({ name }) => sizeOf(join(folder, name))));
  return record.files.filter(({ bytes }, index) => sizes[index] !== bytes).map(({ name }) => name);
}

/** Bytes of a plain file; undefined when there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
