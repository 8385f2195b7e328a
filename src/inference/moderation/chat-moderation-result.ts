import type { ModerationVerdict } from "../../contracts/moderation-model.ts";
import type { Fault } from "../../kernel/faults.ts";

/** A verdict; or a Fault if the moderation model failed and the policy only asks for scores. */
export type ModerationOutcome = ModerationVerdict | Fault;

export interface ChatModerationResult {
  /** Catalog ID of the moderation model. */
  model: string;
  input: ModerationOutcome | undefined;
  /** Set once the answer is complete. */
  output: ModerationOutcome | undefined;
}
