/** What a request spent its time on beside the answer itself. */

export interface Stage {
  /**
   * `load`: waited until a model was loaded; `attempt`: asked a deployment that failed; `moderation`: asked a moderation
   * model about the prompt or the answer; `turn`: one of several answers of a model, between which `tool` calls ran.
   */
  kind: "load" | "attempt" | "moderation" | "turn" | "tool";
  /** Deployment, or the tool that was called. */
  deployment: string;
  /** From `performance.now()`. */
  beganAt: number;
  durationMs: number;
  queuedMs?: number;
  /** Why it ended without an answer. */
  failure?: unknown;
}

export function inOrder(stages: readonly Stage[]): Stage[] {
  return stages.toSorted((a, b) => a.beganAt - b.beganAt);
}
