import type { Model } from "../engines/engine.ts";
import type { RateLimitStatus } from "../faults.ts";
import type { Usage } from "../usage.ts";
import type { Settlement } from "./settlement.ts";

/** The answer of a run, whatever its task. */
export interface InferenceAnswer<Opened extends Model, Event> {
  /** The catalog id that answers, which may be a fallback's. */
  model: string;
  deployment: string;
  /** The open model itself, for the facts that it declares. */
  opened: Opened;
  /** How much of the caller's limits is left. */
  rateLimitStatus: RateLimitStatus;
  /** To be read to its end, or returned early; a failure on the way is thrown. */
  events: AsyncIterable<Event>;
  /** Until now: grows as `events` are read. */
  used: Readonly<Usage>;
  /** Called before `events` is returned early although the caller is still there: says how that is to be settled. */
  settleAs(outcome: "finished" | "failed"): void;
  /** What it came to; undefined while it runs. */
  settlement(): Settlement | undefined;
}
