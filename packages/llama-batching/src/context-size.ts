/** Chooses the default context window: what the model was trained for, as far as memory allows. */

/** Preferred even when its cache takes half of the available memory. */
const PREFERRED_TOKENS = 16_384;
export const MIN_CONTEXT_SIZE = 4096;

export interface ContextChoice {
  /** Tokens for each slot. */
  contextSize: number;
  reason: "configured" | "trained" | "memory";
}

export interface ContextConstraints {
  /** Tokens that the model was trained with. */
  trainedSize: number;
  availableBytes: number;
  /** Memory of the context of all slots. */
  estimateBytes: (contextSize: number) => Promise<number>;
}

/**
 * Halves the trained size until the context takes at most a quarter of the available memory, half for windows of up to
 * 16,384 tokens, but not below 4096 tokens.
 */
export async function chooseContextSize(constraints: ContextConstraints): Promise<ContextChoice> {
  const { trainedSize, availableBytes, estimateBytes } = constraints;
  let contextSize = trainedSize;
  while (contextSize > MIN_CONTEXT_SIZE) {
    const share = contextSize > PREFERRED_TOKENS ? 4 : 2;
    if ((await estimateBytes(contextSize)) <= availableBytes / share) break;
    contextSize = nextSize(contextSize);
  }
  return { contextSize, reason: contextSize === trainedSize ? "trained" : "memory" };
}

/** Next smaller window when this one did not fit into memory; undefined for the smallest. */
export function smallerSize(contextSize: number): number | undefined {
  return contextSize > MIN_CONTEXT_SIZE ? nextSize(contextSize) : undefined;
}

/** Half, without skipping the preferred size. */
function nextSize(contextSize: number): number {
  const half = Math.floor(contextSize / 2);
  if (contextSize > PREFERRED_TOKENS && half < PREFERRED_TOKENS) return PREFERRED_TOKENS;
  return Math.max(MIN_CONTEXT_SIZE, half);
}
