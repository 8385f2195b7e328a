/** Greedy decoding of one segment of speech. */

import type { MoonshineNetwork } from "./moonshine-network.ts";
import type { MoonshineTokenizer } from "./moonshine-tokenizer.ts";

/** English speech has fewer; without a limit the decoder may loop to the end of its context. */
const MAX_TOKENS_PER_SECOND = 6.5;
const SAMPLE_RATE = 16_000;

/** Undefined once the signal aborts. */
export async function decodeSegment(
  network: MoonshineNetwork,
  tokenizer: MoonshineTokenizer,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<string | undefined> {
  const state = network.startDecoding(await network.encode(samples));
  const maxTokens = Math.ceil((samples.length / SAMPLE_RATE) * MAX_TOKENS_PER_SECOND);
  const tokens: number[] = [];
  for (let token = tokenizer.startOfText; tokens.length < maxTokens; tokens.push(token)) {
    if (signal.aborted) return undefined;
    token = argmax(await state.append(token));
    if (token === tokenizer.endOfText) break;
  }
  return tokenizer.decode(tokens);
}

function argmax(values: Float32Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}
