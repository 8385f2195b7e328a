import type { ChatRequest } from "../contracts/chat-model.ts";
import type { Deployment } from "../deployments/deployment.ts";
import { Fault } from "../kernel/faults.ts";

/** A count of 19 MB would take minutes, after which no client waits for it. */
const MAX_COUNT_MS = 15_000;

/**
 * Counts a prompt with the first local deployment that can; undefined without one, while none can be loaded, and for a
 * prompt that takes longer than `maxCountMs`.
 */
export async function countLocally(
  deployments: readonly Deployment[],
  request: ChatRequest,
  signal: AbortSignal,
  maxCountMs = MAX_COUNT_MS,
): Promise<number | undefined> {
  for (const deployment of deployments) {
    if (deployment.isUpstream) continue;
    using _held = deployment.hold();
    const model = await deployment.opened(signal).catch(orUndefined);
    if (model?.task !== "chat" || model.countTokens === undefined) continue;
    const late = AbortSignal.timeout(maxCountMs);
    const isLate = () => late.aborted && !signal.aborted;
    try {
      const count = await model.countTokens(request, AbortSignal.any([signal, late]));
      // A count that is broken off may be that of a part.
      return isLate() ? undefined : count;
    } catch (failure) {
      if (isLate()) return undefined;
      throw failure;
    }
  }
  return undefined;
}

/** The tokens can be estimated while the model is unavailable. */
function orUndefined(failure: unknown): undefined {
  if (failure instanceof Fault && failure.kind === "unavailable") return undefined;
  throw failure;
}
