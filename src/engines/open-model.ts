/** What open models of every task have in common. */

export interface OpenModel {
  /** Requests that it serves at once; more have to wait. Undefined: as many as come (an upstream decides itself). */
  readonly slots: number | undefined;
  /** Where it runs, for people: `cpu`, `cuda`, `metal`, `vulkan`, `upstream`. */
  readonly device: string;
  /** Process that serves at present, where the model runs in one of its own. */
  readonly pid?: number | undefined;
  /** Whether a request sent now can be served; a restarting process says when to try again. */
  health(): ModelHealth;
  /** The names of the models that an upstream has; left out where there is one model only. Throws a Fault. */
  listModels?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Asks, without work for a model, whether it is well again; undefined: that cannot be told so. Left out where only a
   * request can show. Does not throw.
   */
  probe?(signal: AbortSignal): Promise<boolean | undefined>;
  /** Ends it and everything it runs. Requests in flight end with a Fault. Safe to call twice. */
  close(): Promise<void>;
}

export type ModelHealth =
  | { state: "up" }
  | { state: "restarting" | "failed"; reason: string; retryAfterSeconds: number };

/** As the caller sent them, names in lower case; an engine passes on only what its operator named, and never the key. */
export type CallerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
