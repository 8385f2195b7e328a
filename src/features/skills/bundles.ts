/** Packs and unpacks bundles of skills in worker threads. */

import { extname } from "node:path";
import { invalidRequest } from "../../kernel/faults.ts";
import { ThreadPool } from "../../kernel/process/thread-pool.ts";
import type { BundleResult, BundleSource, BundleTask, PackedSkill, UnpackedSkill } from "./bundle-worker.ts";
import type { ZipSource } from "./zip-reader.ts";

const entry = new URL(`./bundle-worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
const pool = new ThreadPool<BundleTask, BundleResult>(entry);

/** Writes the bundle of a skill to a new file. Throws a Fault for files that are no skill. */
export async function packBundle(source: BundleSource, destination: string, signal?: AbortSignal) {
  return (await run({ type: "pack", source, destination }, "files", signal)) as PackedSkill;
}

/** Reads the files of a bundle. Throws a Fault naming `param` for one that is no skill, or has more than `maxBytes`. */
export async function unpackBundle(zip: ZipSource, maxBytes: number, param: string, signal?: AbortSignal) {
  return (await run({ type: "unpack", zip, maxBytes }, param, signal)) as UnpackedSkill;
}

async function run(task: BundleTask, param: string, signal: AbortSignal | undefined): Promise<BundleResult> {
  const result = await pool.run(task, signal && { signal });
  if ("problem" in result) throw invalidRequest(`The skill cannot be used: ${result.problem}`, param, "invalid_skill");
  return result;
}
