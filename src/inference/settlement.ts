import type { Caller } from "../accounts/caller.ts";
import type { ChatUsage, Task } from "../engines/engine.ts";

/** What one request came to, told once it is over, however it ended. */
export interface Settlement {
  caller: Caller;
  operation: Task;
  /** The catalog id asked for; it exists and the caller may use it. */
  requestedModel: string;
  /** The catalog's entry for it: the same id, or the wildcard that covers it. */
  catalogId: string;
  /** The catalog id and deployment that answered; undefined when none did. */
  model: string | undefined;
  deployment: string | undefined;
  outcome: "finished" | "client-left" | "failed";
  used: ChatUsage;
  durationSeconds: number;
  firstTokenSeconds: number | undefined;
}
