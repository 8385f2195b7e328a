/** Start and end of each word of a window. */

import { splitWords } from "./split-words.ts";
import { tokenTimestamps } from "./token-alignment.ts";
import type { EncoderOutput, WhisperNetwork } from "./whisper-network.ts";
import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface WhisperWord {
  word: string;
  startSeconds: number;
  endSeconds: number;
}

export interface WindowToAlign {
  encoderOutput: EncoderOutput;
  windowSeconds: number;
  /** The special tokens that started the transcript. */
  promptTokens: readonly number[];
  /** Text tokens by segment, without timestamps. */
  segments: readonly (readonly number[])[];
  language: string | undefined;
}

/** A word lasts at most twice the median, which counts as at most this; the rest is a pause next to a sentence end. */
const MAX_MEDIAN_SECONDS = 0.7;
const SENTENCE_END = /[.。!！?？]$/;

/** The words of each segment, with times relative to the window. */
export async function wordTimestamps(
  network: WhisperNetwork,
  tokenizer: WhisperTokenizer,
  { encoderOutput, windowSeconds, promptTokens, segments, language }: WindowToAlign,
): Promise<WhisperWord[][]> {
  const text = segments.flat();
  if (text.length === 0) return segments.map(() => []);
  const tokens = [...promptTokens, tokenizer.noTimestamps, ...text, tokenizer.endOfText];
  const alignment = await network.startDecoding(encoderOutput, 1).align(tokens);
  const times = tokenTimestamps(alignment, promptTokens.length, windowSeconds);
  let position = 0;
  const words = segments.map((segmentTokens) =>
    splitWords(segmentTokens, tokenizer, language).map((word) => {
      const startSeconds = times[position] ?? windowSeconds;
      position += word.tokens.length;
      return { word: word.text.trim(), startSeconds, endSeconds: times[position] ?? windowSeconds };
    }),
  );
  shortenAtPauses(words);
  return words.map((segmentWords) => segmentWords.filter(({ word }) => word !== ""));
}

/** In place. */
function shortenAtPauses(segments: readonly (readonly WhisperWord[])[]): void {
  const durations = segments
    .flat()
    .map(({ startSeconds, endSeconds }) => endSeconds - startSeconds)
    .filter((duration) => duration > 0)
    .sort((a, b) => a - b);
  const maxSeconds = 2 * Math.min(MAX_MEDIAN_SECONDS, durations[Math.floor(durations.length / 2)] ?? 0);
  if (maxSeconds === 0) return;
  for (const words of segments) {
    for (const [index, word] of words.entries()) {
      if (word.endSeconds - word.startSeconds <= maxSeconds) continue;
      const previous = words[index - 1];
      if (previous === undefined || SENTENCE_END.test(previous.word)) word.startSeconds = word.endSeconds - maxSeconds;
      else if (SENTENCE_END.test(word.word)) word.endSeconds = word.startSeconds + maxSeconds;
    }
  }
}
