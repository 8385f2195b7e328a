/** Properties of open models of every task. */

import type { Fault } from "../kernel/faults.ts";

export interface OpenModel {
  /** Requests served concurrently; more wait. Undefined: unlimited, because an upstream decides. */
  readonly slots: number | undefined;
  /** Maximum slots for the requests of one project; left out: all. */
  readonly slotsPerProject?: number | undefined;
  /** Display name of where it runs: `cpu`, `cuda`, `metal`, `vulkan`, `upstream`. */
  readonly device: string;
  /** Memory of the GPU that it has taken; left out: none, or unknown. */
  readonly gpuBytes?: number | undefined;
  /** PID of the model's child process, if it has one. */
  readonly pid?: number | undefined;
  /** Models that it calls and closes; their memory counts as its own. */
  readonly nested?: readonly OpenModel[];
  /** Reports whether the model can serve requests now, and if not, when to retry. */
  health(): ModelHealth;
  /** Lists an upstream's models; left out where there is only one model. Throws a Fault. */
  listModels?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Checks, without running inference, whether the model is healthy again; undefined: unknown. Left out where only a
   * request can show it. Does not throw.
   */
  probe?(signal: AbortSignal): Promise<boolean | undefined>;
  /**
   * Returns the Fault for a feature that the upstream of `id`, a catalog ID, turned out to lack; undefined: it may have
   * it. Left out: the model's abilities say everything.
   */
  missing?(feature: ModelFeature, id: string): Fault | undefined;
  /** Reads the engine's own metrics; left out where none are configured. */
  readonly loadReport?: LoadReport | undefined;
  /** Closes the model and its processes. Requests in flight fail with a Fault. Safe to call twice. */
  close(): Promise<void>;
}

/** A feature that an upstream may lack: an operation by its path in OpenAI's API, or an option of one. */
export type ModelFeature =
  | "completions"
  | "responses"
  | "messages"
  | "rerank"
  | "audio/translations"
  | "images/generations"
  | "images/edits"
  | "images/variations"
  | "speakers"
  | "word-times";

export type ModelHealth =
  /** `restartedAt`: when its process was last started again after a crash, epoch milliseconds. */
  | { state: "up"; restartedAt?: number | undefined }
  | { state: "restarting" | "failed"; reason: string; retryAfterSeconds: number };

export interface LoadReport {
  intervalSeconds: number;
  /** Reads the present load. Throws when the engine does not report it. */
  read(signal: AbortSignal): Promise<EngineLoad>;
}

/** Load of an engine by its own metrics, which count the requests of all its clients. */
export interface EngineLoad {
  running: number;
  waiting: number;
  /** Fraction of the KV cache in use, 0 to 1; undefined: not reported. */
  cacheUsage: number | undefined;
}

/** The caller's headers, names in lower case. An engine forwards only those that its operator listed, never the key. */
export type CallerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
