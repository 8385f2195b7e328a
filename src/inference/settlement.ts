import type { Caller } from "../accounts/caller.ts";
import type { Task } from "../engines/task.ts";
import type { Usage } from "../usage.ts";

/** Result of one request, reported once, however it ended. */
export interface Settlement {
  caller: Caller;
  operation: Task;
  /** The catalog id asked for; it exists and the caller may use it. */
  requestedModel: string;
  /** The catalog's entry for it: the same id, or the wildcard that covers it. */
  catalogId: string;
  /** The catalog id and deployment that answered; undefined when none did. */
  model: string | undefined;
  /** At the price of the model that answered when it was asked; null without one. */
  costNanoDollars: number | null;
  deployment: string | undefined;
  /** Deployments that were asked, one of them again counting again. */
  attempts: number;
  /** Spent waiting for a slot, in all attempts. */
  queuedSeconds: number;
  outcome: "finished" | "client-left" | "failed";
  used: Usage;
  /** Epoch milliseconds. */
  startedAt: number;
  durationSeconds: number;
  /** To the first part of the answer. */
  firstTokenSeconds: number | undefined;
}
