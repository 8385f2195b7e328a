import type { ChatRequest } from "../contracts/chat-model.ts";
import { Fault } from "../kernel/faults.ts";
import type { Deployment } from "./deployment.ts";

/** Counts a prompt with the first local deployment that can; undefined without one, or while none can be loaded. */
export async function countLocally(
  deployments: readonly Deployment[],
  request: ChatRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (const deployment of deployments) {
    if (deployment.isUpstream) continue;
    using _held = deployment.hold();
    const model = await deployment.opened(signal).catch(orUndefined);
    if (model?.task === "chat" && model.countTokens !== undefined) return model.countTokens(request, signal);
  }
  return undefined;
}

/** The tokens can be estimated while the model is unavailable. */
function orUndefined(failure: unknown): undefined {
  if (failure instanceof Fault && failure.kind === "unavailable") return undefined;
  throw failure;
}
