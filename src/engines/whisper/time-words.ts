/** When each word of a window is said. */

import type { TranscriptWord } from "../engine.ts";
import { splitWords } from "./split-words.ts";
import { tokenTimes } from "./token-times.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { Heard, WhisperNetwork } from "./whisper-network.ts";

export interface WindowToTime {
  heard: Heard;
  windowSeconds: number;
  /** What the decoder was told before the text. */
  steering: readonly number[];
  /** Text alone, by segment. */
  segments: readonly (readonly number[])[];
  language: string | undefined;
}

/** A word takes no longer than twice the usual one, but at the end of a sentence, where a pause is taken for it. */
const LONGEST_USUAL_SECONDS = 0.7;
const SENTENCE_END = /[.。!！?？]$/;

/** By segment; times are in the window. */
export async function timeWords(
  network: WhisperNetwork,
  vocabulary: Vocabulary,
  { heard, windowSeconds, steering, segments, language }: WindowToTime,
): Promise<TranscriptWord[][]> {
  const text = segments.flat();
  if (text.length === 0) return segments.map(() => []);
  const tokens = [...steering, vocabulary.noTimes, ...text, vocabulary.endOfText];
  const alignment = await network.passage(heard).align(tokens);
  const times = tokenTimes(alignment, steering.length, windowSeconds);
  let position = 0;
  const words = segments.map((own) =>
    splitWords(own, vocabulary, language).map((word) => {
      const startSeconds = times[position] ?? windowSeconds;
      position += word.tokens.length;
      return { word: word.text.trim(), startSeconds, endSeconds: times[position] ?? windowSeconds };
    }),
  );
  shortenAtPauses(words);
  return words.map((own) => own.filter(({ word }) => word !== ""));
}

/** In place. */
function shortenAtPauses(segments: readonly (readonly TranscriptWord[])[]): void {
  const lengths = segments
    .flat()
    .map(({ startSeconds, endSeconds }) => endSeconds - startSeconds)
    .filter((length) => length > 0)
    .sort((a, b) => a - b);
  const longest = 2 * Math.min(LONGEST_USUAL_SECONDS, lengths[Math.floor(lengths.length / 2)] ?? 0);
  if (longest === 0) return;
  for (const words of segments) {
    for (const [index, word] of words.entries()) {
      if (word.endSeconds - word.startSeconds <= longest) continue;
      const before = words[index - 1];
      if (before === undefined || SENTENCE_END.test(before.word)) word.startSeconds = word.endSeconds - longest;
      else if (SENTENCE_END.test(word.word)) word.endSeconds = word.startSeconds + longest;
    }
  }
}
