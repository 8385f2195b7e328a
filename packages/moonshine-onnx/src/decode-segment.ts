/** Greedy decoding of one segment of speech. */

import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { quietestPosition } from "@parlance-inference/speech-segmentation/quietest-position";
import type { MoonshineNetwork } from "./moonshine-network.ts";
import type { MoonshineTokenizer } from "./moonshine-tokenizer.ts";
import { hasRepeatedPhrase } from "./repeated-phrase.ts";

/** English speech has fewer; without a limit the decoder may loop to the end of its context. */
const MAX_TOKENS_PER_SECOND = 6.5;
/** Shorter segments are too short for a loop and for two halves. */
const MIN_SPLIT_SAMPLES = 4 * SAMPLE_RATE;
/** Slower speech has more; the decoder sometimes ends at a pause, or before the first word. */
const MIN_CHARACTERS_PER_SECOND = 2;

interface Decoded {
  text: string;
  /** Whether the decoder ended by itself. */
  isComplete: boolean;
}

/**
 * Decodes the segment, and a second time in two halves when the decoder loops, does not end or leaves out speech: a loop
 * does not survive the cut, and a phrase that was spoken twice does. A short segment without text is decoded without its
 * padding. Undefined once the signal aborts.
 */
export async function decodeSegment(
  network: MoonshineNetwork,
  tokenizer: MoonshineTokenizer,
  samples: Float32Array,
  signal: AbortSignal,
  padding: { before: number; after: number } = { before: 0, after: 0 },
): Promise<string | undefined> {
  const decoded = await decodeOnce(network, tokenizer, samples, signal);
  if (decoded === undefined) return undefined;
  const speechSamples = samples.length - padding.before - padding.after;
  const isTooShort = decoded.text.length < (MIN_CHARACTERS_PER_SECOND * speechSamples) / SAMPLE_RATE;
  const isSuspicious = !decoded.isComplete || isTooShort || hasRepeatedPhrase(decoded.text);
  if (!isSuspicious) return decoded.text;
  if (samples.length < MIN_SPLIT_SAMPLES) {
    const speech = samples.subarray(padding.before, samples.length - padding.after);
    if (decoded.text !== "" || speech.length === samples.length) return decoded.text;
    return (await decodeOnce(network, tokenizer, speech, signal))?.text;
  }
  const middle = quietestPosition(samples, Math.round(samples.length / 3), Math.round((samples.length * 2) / 3));
  const first = await decodeSegment(network, tokenizer, samples.subarray(0, middle), signal, {
    before: padding.before,
    after: 0,
  });
  if (first === undefined) return undefined;
  const second = await decodeSegment(network, tokenizer, samples.subarray(middle), signal, {
    before: 0,
    after: padding.after,
  });
  return second === undefined ? undefined : `${first} ${second}`.trim();
}

async function decodeOnce(
  network: MoonshineNetwork,
  tokenizer: MoonshineTokenizer,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<Decoded | undefined> {
  const state = network.startDecoding(await network.encode(samples));
  const maxTokens = Math.ceil((samples.length / SAMPLE_RATE) * MAX_TOKENS_PER_SECOND);
  const tokens: number[] = [];
  let token = tokenizer.startOfText;
  while (tokens.length < maxTokens) {
    if (signal.aborted) return undefined;
    token = argmax(await state.append(token));
    if (token === tokenizer.endOfText) return { text: tokenizer.decode(tokens), isComplete: true };
    tokens.push(token);
  }
  return { text: tokenizer.decode(tokens), isComplete: false };
}

function argmax(values: Float32Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}
