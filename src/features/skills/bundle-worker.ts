/** Runs in a worker thread: checks the files of a skill, and packs or unpacks its bundle. */

import { open, readFile } from "node:fs/promises";
import { lowerPriority } from "../../kernel/process/lower-priority.ts";
import { BundleError, tooLargeForContainer } from "./bundle-error.ts";
import type { FrontMatter } from "./front-matter.ts";
import { type BundleFile, checkPath, SkillFiles } from "./skill-files.ts";
import { filesOfZip, type ZipSource } from "./zip-reader.ts";
import { ZipWriter } from "./zip-writer.ts";

/** Files of a folder: their paths in the skill, and where their bytes are. */
export type BundleSource = { zip: ZipSource } | { files: readonly { name: string; path: string }[] };

export type BundleTask =
  /** Writes the bundle to a new file. */
  | { type: "pack"; source: BundleSource; destination: string }
  /** Reads the files, of which all have at most `maxBytes`. */
  | { type: "unpack"; zip: ZipSource; maxBytes: number };

export interface PackedSkill extends FrontMatter {
  bytes: number;
}

export interface UnpackedFile {
  /** Below the folder of the skill. */
  path: string;
  content: Uint8Array;
}

export interface UnpackedSkill extends FrontMatter {
  files: UnpackedFile[];
}

export type BundleResult = PackedSkill | UnpackedSkill | { problem: string };

lowerPriority();

export default async function runTask(task: BundleTask): Promise<BundleResult> {
  try {
    return await (task.type === "pack" ? pack(task) : unpack(task));
  } catch (error) {
    if (error instanceof BundleError) return { problem: error.message };
    throw error;
  }
}

async function pack({ source, destination }: BundleTask & { type: "pack" }): Promise<PackedSkill> {
  await using file = await open(destination, "wx", 0o600);
  const writer = new ZipWriter(file);
  const checked = new SkillFiles();
  for await (const each of "zip" in source ? filesOfZip(source.zip) : filesOfFolder(source.files)) {
    checked.add(each);
    await writer.add(each);
  }
  const { name, description } = checked.end();
  return { name, description, bytes: await writer.end() };
}

async function unpack({ zip, maxBytes }: BundleTask & { type: "unpack" }): Promise<UnpackedSkill> {
  const checked = new SkillFiles();
  const files: BundleFile[] = [];
  let bytes = 0;
  for await (const each of filesOfZip(zip)) {
    checked.add(each);
    bytes += each.content.length;
    if (bytes > maxBytes) throw new BundleError(tooLargeForContainer(maxBytes));
    files.push(each);
  }
  const { root, ...manifest } = checked.end();
  return { ...manifest, files: files.map(({ path, content }) => ({ path: toShortPath(path, root), content })) };
}

/** Models look for SKILL.md in these letters. */
function toShortPath(path: string, root: string): string {
  return path.slice(root.length).replace(/^skill\.md$/i, "SKILL.md");
}

async function* filesOfFolder(files: readonly { name: string; path: string }[]): AsyncGenerator<BundleFile> {
  for (const { name, path } of files) {
    yield { path: checkPath(name), content: await readFile(path), isExecutable: false };
  }
}
