/** Packs and unpacks bundles of skills in worker threads. */

import { extname } from "node:path";
import { KeyedLimits } from "../../kernel/async/keyed-limits.ts";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";
import { ThreadPool } from "../../kernel/process/thread-pool.ts";
import { tooLargeForContainer } from "./bundle-error.ts";
import { MAX_HEADER_BYTES } from "./bundle-limits.ts";
import type { BundleResult, BundleSource, BundleTask, PackedSkill, UnpackedSkill } from "./bundle-worker.ts";
import type { ZipSource } from "./zip-reader.ts";

const entry = new URL(`./bundle-worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
const pool = new ThreadPool<BundleTask, BundleResult>(entry);
/** One bundle of a project at a time: others get a thread between them, and those that wait are not in memory. */
const packing = new KeyedLimits(1);
const unpacking = new KeyedLimits(1);

interface BundleWork {
  projectId: string;
  signal?: AbortSignal | undefined;
}

/** Writes the bundle of a skill to a new file. Throws a Fault for files that are no skill. */
export async function packBundle(source: BundleSource, destination: string, { projectId, signal }: BundleWork) {
  const pack = () => run({ type: "pack", source, destination }, "files", { projectId, signal });
  return (await packing.run(projectId, pack)) as PackedSkill;
}

/**
 * Reads the files of a bundle, which `read` returns once it is its turn. Throws a Fault naming `param` for one that is no
 * skill, or has more than `maxBytes`.
 */
export async function unpackBundle(
  read: () => ZipSource | Promise<ZipSource>,
  { maxBytes, param, projectId, signal }: BundleWork & { maxBytes: number; param: string },
) {
  const unpack = async () => {
    signal?.throwIfAborted();
    return run({ type: "unpack", zip: await read(), maxBytes }, param, { projectId, signal });
  };
  return (await unpacking.run(projectId, unpack)) as UnpackedSkill;
}

/** Throws a Fault for a bundle of so many bytes that its files cannot have at most `maxBytes`. */
export function requireSmallBundle(bytes: number, maxBytes: number, param: string): void {
  if (bytes > maxBytes + MAX_HEADER_BYTES) throw invalidSkill(tooLargeForContainer(maxBytes), param);
}

async function run(task: BundleTask, param: string, { projectId, signal }: BundleWork): Promise<BundleResult> {
  const result = await pool.run(task, { project: projectId, ...(signal && { signal }) });
  if ("problem" in result) throw invalidSkill(result.problem, param);
  return result;
}

function invalidSkill(problem: string, param: string): Fault {
  return invalidRequest(`The skill cannot be used: ${problem}`, param, "invalid_skill");
}
