/** Resolves a reference to a model's files and their folder in the store. */

import { createHash } from "node:crypto";
import type { Task } from "../contracts/task.ts";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { BUNDLED_MODELS } from "./manifest/bundled-models.ts";
import type { ManifestEntry, ManifestFile } from "./manifest/manifest-entry.ts";

export interface WantedModel {
  /** Manifest ID, `piper:` and a voice, or `hf:owner/repo/path`, with `@revision` unless that is `main`. */
  id: string;
  /** Relative to the store's directory, with `/`. */
  folder: string;
  /** Undefined for a file outside the manifest. */
  task: Task | undefined;
  license: string | undefined;
  /** ID of the model whose files belong to it, too. */
  base?: string | undefined;
  files: readonly ManifestFile[];
}

/** Returns a readable and unique file name for temporary folders and locks. */
export function lockName(id: string): string {
  const readable = id.replaceAll(/[^\w.-]+/g, "-").slice(0, 60);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`;
}

/** Finds a model of the manifest, or the one whose files a bundled model runs. Throws a Fault that explains how to list the known ones. */
export function fromManifest(id: string, manifest: readonly ManifestEntry[]): WantedModel {
  const needed = BUNDLED_MODELS.find((each) => each.id === id)?.requires ?? id;
  const entry = manifest.find((each) => each.id === needed);
  if (entry === undefined) {
    throw new Fault(
      "not-found",
      `No model is called ${id}. \`parlance models list --all\` shows the built-in ones; any other GGUF file is available as hf:owner/repo/file.gguf, and voices of Piper as piper:de_DE-thorsten-medium.`,
      { code: "model_not_found", param: "model" },
    );
  }
  const { task, license, base, files } = entry;
  return { id: needed, folder: needed, task, license, base, files };
}

const HUB_REFERENCE = /^(?<owner>[\w.-]+)\/(?<name>[\w.-]+)\/(?<path>[^@]+)(?:@(?<revision>[\w.-]+(?:\/[\w.-]+)*))?$/;
const HUB_PATH = /^[^/\\:*?"<>|\p{Cc}]+(?:\/[^/\\:*?"<>|\p{Cc}]+)*$/u;
const SPLIT = /^(?<stem>.+)-(?<part>\d{5})-of-(?<parts>\d{5})\.gguf$/;
const MAX_PARTS = 999;

/** `owner/repo/path/to/file.gguf`, with `@revision` when it is not `main`. */
export function fromHub(reference: string): WantedModel {
  const groups = HUB_REFERENCE.exec(reference)?.groups;
  const { owner = "", name = "", path = "", revision = "main" } = groups ?? {};
  const segments = [owner, name, ...path.split("/"), ...revision.split("/")];
  if (groups === undefined || !HUB_PATH.test(path) || segments.some((each) => each === "." || each === "..")) {
    throw invalidRequest(
      `hf:${reference} is not a file on the hub: write hf:owner/repo/path/file.gguf, optionally with @revision at the end.`,
      "hf",
    );
  }
  const repository = `${owner}/${name}`;
  const paths = partsOf(path);
  const suffix = revision === "main" ? "" : `@${revision}`;
  return {
    id: `hf:${repository}/${paths[0]}${suffix}`,
    folder: `hf/${repository}/${stem(path)}${suffix.replaceAll("/", "%2F")}`,
    task: undefined,
    license: undefined,
    files: paths.map((each) => ({
      name: each.slice(each.lastIndexOf("/") + 1),
      sources: [{ source: "hugging-face", repository, revision, path: each }],
    })),
  };
}

/** A split GGUF is complete only with all its parts; llama.cpp gets the path of the first. */
function partsOf(path: string): [string, ...string[]] {
  const groups = SPLIT.exec(path)?.groups;
  if (groups === undefined) return [path];
  const count = Number(groups.parts);
  if (count < 1 || count > MAX_PARTS) {
    throw invalidRequest(`${path} names ${count} parts; the limit is ${MAX_PARTS}.`, "hf");
  }
  const part = (number: number) => `${groups.stem}-${String(number).padStart(5, "0")}-of-${groups.parts}.gguf`;
  return [part(1), ...Array.from({ length: count - 1 }, (_, index) => part(index + 2))];
}

function stem(path: string): string {
  return SPLIT.exec(path)?.groups?.stem ?? path.replace(/\.gguf$/, "");
}
