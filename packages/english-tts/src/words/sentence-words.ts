/** Words of a sentence as they were written. */

import type { TracedSegment } from "../text/to-segments.ts";

type TracedSentence = Extract<TracedSegment, { sentence: string }>;

export interface SentenceWord {
  /** With its punctuation. */
  written: string;
  /** What stands for it in the sentence. */
  text: string;
}

/** Languages without spaces between words. */
const SEGMENTERS: ReadonlyMap<string, Intl.Segmenter> = new Map(
  ["ja", "zh"].map((language) => [language, new Intl.Segmenter(language, { granularity: "word" })]),
);

export function isWrittenTogether(language: string): boolean {
  return SEGMENTERS.has(language);
}

/**
 * Splits a sentence at white space, in Chinese and Japanese between words. What is read as one, such as an address, is one word even
 * where spaces are written or spoken within.
 */
export function sentenceWords({ sentence, written }: TracedSentence, language: string): SentenceWord[] {
  const words: SentenceWord[] = [];
  const segmenter = SEGMENTERS.get(language);
  for (const [start, end] of segmenter === undefined ? spacedWords(sentence) : segmentedWords(segmenter, sentence)) {
    const text = sentence.slice(start, end);
    const source = written.slice(start, end).join("").trim();
    const last = words.at(-1);
    if (written[start] !== "" || last === undefined) words.push({ written: source, text });
    else {
      last.text += ` ${text}`;
      last.written += source;
    }
  }
  return words;
}

type Range = [start: number, end: number];

function spacedWords(sentence: string): Range[] {
  return Array.from(sentence.matchAll(/\S+/g), ({ 0: word, index }) => [index, index + word.length]);
}

function segmentedWords(segmenter: Intl.Segmenter, sentence: string): Range[] {
  const ranges: Range[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(sentence)) {
    const last = ranges.at(-1);
    if (isWordLike === true || last === undefined) ranges.push([index, index + segment.length]);
    else last[1] += segment.length;
  }
  return ranges;
}
