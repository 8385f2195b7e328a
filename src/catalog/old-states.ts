import { removeAbandonedStates } from "@parlance-inference/llama-batching/state-directory";
import { sweepStates } from "@parlance-inference/llama-batching/state-files";
import { HOUR_MS } from "../kernel/durations.ts";
import { Poll } from "../kernel/jobs/poll.ts";

/**
 * Removes evaluated prompts that have expired, also of models that are unloaded or no longer store any, and what a killed
 * process of a model left in `/dev/shm`.
 */
export function removeOldStates(directory: string): Poll {
  const remove = async () => {
    await sweepStates(directory);
    await removeAbandonedStates();
  };
  return new Poll(remove, { everyMs: HOUR_MS, firstMs: 0 });
}
