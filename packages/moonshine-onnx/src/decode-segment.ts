/** Greedy decoding of one segment of speech. */

import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { QUIET_SAMPLES, quietestPosition } from "@parlance-inference/speech-segmentation/quietest-position";
import type { MoonshineNetwork } from "./moonshine-network.ts";
import type { MoonshineTokenizer } from "./moonshine-tokenizer.ts";
import { hasRepeatedPhrase } from "./repeated-phrase.ts";

/** English speech has fewer; without a limit the decoder may loop to the end of its context. */
const MAX_TOKENS_PER_SECOND = 6.5;
/** Shorter segments are too short for a loop and for two halves. */
const MIN_SPLIT_SAMPLES = 4 * SAMPLE_RATE;
/** Less silence after the last word means that speech is cut off. */
const MIN_END_SILENCE_SAMPLES = 0.1 * SAMPLE_RATE;
/**
 * Silence after speech that is cut off, which the decoder otherwise finishes with words of its own or begins again: 24
 * sentences that ended at a half, 62 or 75 percent had 58 words too many without it and 25 with it.
 */
const ADDED_SILENCE_SAMPLES = 0.5 * SAMPLE_RATE;
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
  const decoded = await decodeOnce(network, tokenizer, withEndSilence(samples, padding.after), signal);
  if (decoded === undefined) return undefined;
  const speechSamples = samples.length - padding.before - padding.after;
  const isTooShort = decoded.text.length < (MIN_CHARACTERS_PER_SECOND * speechSamples) / SAMPLE_RATE;
  const isSuspicious = !decoded.isComplete || isTooShort || hasRepeatedPhrase(decoded.text);
  if (!isSuspicious) return decoded.text;
  if (samples.length < MIN_SPLIT_SAMPLES) {
    const speech = samples.subarray(padding.before, samples.length - padding.after);
    if (decoded.text !== "" || speech.length === samples.length) return decoded.text;
    return (await decodeOnce(network, tokenizer, withEndSilence(speech, 0), signal))?.text;
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

/** Appends the quietest moment of the segment, forwards and backwards by turns, where too little silence follows. */
function withEndSilence(samples: Float32Array, silentSamples: number): Float32Array {
  if (silentSamples >= MIN_END_SILENCE_SAMPLES || samples.length < QUIET_SAMPLES) return samples;
  const middle = quietestPosition(samples, 0, samples.length);
  const quiet = samples.subarray(middle - QUIET_SAMPLES / 2, middle + QUIET_SAMPLES / 2);
  const padded = new Float32Array(samples.length + ADDED_SILENCE_SAMPLES);
  padded.set(samples);
  for (let index = 0; index < ADDED_SILENCE_SAMPLES; index += 1) {
    const [turn, offset] = [Math.floor(index / quiet.length), index % quiet.length];
    padded[samples.length + index] = quiet[turn % 2 === 0 ? quiet.length - 1 - offset : offset] ?? 0;
  }
  return padded;
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
