/** Says when the words of a text are spoken, by the durations that the network predicts for their phonemes. */

import type { TracedSegment } from "../text/to-segments.ts";
import { alignWords } from "./align-words.ts";
import { isWrittenTogether, sentenceWords } from "./sentence-words.ts";

export interface SpokenWord {
  /** As it was written, with its punctuation. */
  word: string;
  /** From the beginning of the audio. */
  startSeconds: number;
  endSeconds: number;
}

export interface WordTimingOptions {
  phonemize: (text: string) => string | Promise<string>;
  vocabulary: Readonly<Record<string, number>>;
  /** ISO 639-1. */
  language: string;
  sampleRate: number;
}

/** What a network made of one piece of a sentence. */
export interface SpokenPiece {
  /** Phonemes, as IDs of the vocabulary. */
  ids: readonly number[];
  /** In any unit, of the phonemes and of the padding at both ends. */
  durations: readonly number[];
  samples: Float32Array;
}

/** Marks of pauses, whose duration belongs to no word. */
const PAUSES = ' ;:,.!?—…"()“”';
/**
 * Sounds begin before the frames of their phonemes: stops close 90 ms before and open 50 ms before. Kokoro's authors
 * take off the same three frames.
 */
const LEAD_SECONDS = 0.075;
/** Peak below which a sound has ended: the last phoneme before a pause lasts until the pause has ended, too. */
const SILENCE = 0.01;

export class WordTiming {
  readonly #options: WordTimingOptions;
  readonly #space: number | undefined;
  readonly #pauses: ReadonlySet<number | undefined>;
  /** Samples before the next piece. */
  #samples = 0;
  #words: string[] = [];
  /** Index of the word of each group of phonemes. */
  #owners: readonly (number | undefined)[] = [];
  #group = 0;

  constructor(options: WordTimingOptions) {
    this.#options = options;
    this.#space = options.vocabulary[" "];
    this.#pauses = new Set([...PAUSES].map((mark) => options.vocabulary[mark]));
  }

  /** Counts a pause between sentences. */
  pause(samples: number): void {
    this.#samples += samples;
  }

  /** Begins a sentence, whose pieces follow. */
  async begin(segment: Extract<TracedSegment, { sentence: string }>, phonemes: string): Promise<void> {
    const { phonemize, language } = this.#options;
    const words = sentenceWords(segment, language);
    const alone: string[][] = [];
    for (const { text } of words) {
      const sounds = await phonemize(text);
      alone.push(sounds === "" ? [] : sounds.split(" "));
    }
    this.#owners = alignWords(alone, phonemes.split(" "));
    const separator = isWrittenTogether(language) ? "" : " ";
    this.#words = joinUnheard(
      words.map(({ written }) => written),
      this.#owners,
      separator,
    );
    this.#group = 0;
  }

  /** Returns the words that begin in the next piece of the sentence. */
  take({ ids, durations, samples }: SpokenPiece): SpokenWord[] {
    const { sampleRate } = this.#options;
    const lead = Math.round(LEAD_SECONDS * sampleRate);
    const scale = samples.length / durations.reduce((sum, duration) => sum + duration, 0);
    const ranges = new Map<number, { start: number; end: number }>();
    let end = (durations[0] ?? 0) * scale - lead;
    for (const [index, id] of ids.entries()) {
      const start = Math.max(0, end);
      end += (durations[index + 1] ?? 0) * scale;
      if (id === this.#space) this.#group += 1;
      const owner = this.#owners[this.#group];
      if (owner === undefined || this.#pauses.has(id)) continue;
      ranges.set(owner, { start: ranges.get(owner)?.start ?? start, end: Math.max(start, end) });
    }
    const words: SpokenWord[] = [];
    for (const [owner, range] of ranges) {
      const word = this.#words[owner] ?? "";
      // A word that a cut has divided was reported with its first part.
      this.#words[owner] = "";
      if (word === "") continue;
      const seconds = (position: number) => (this.#samples + position) / sampleRate;
      words.push({ word, startSeconds: seconds(range.start), endSeconds: seconds(audibleEnd(samples, range)) });
    }
    this.#samples += samples.length;
    return words;
  }
}

/** Returns where the last sound of a range ends; the end of one without. */
function audibleEnd(samples: Float32Array, { start, end }: { start: number; end: number }): number {
  for (let position = Math.floor(end); position > start; position -= 1) {
    if (Math.abs(samples[position] ?? 0) > SILENCE) return position;
  }
  return end;
}

/** Joins what is silent, such as a dash, and what is read with another word with the word before it, or else after it. */
function joinUnheard(words: readonly string[], owners: readonly (number | undefined)[], separator: string): string[] {
  const heard = new Set(owners);
  const joined = [...words];
  for (const [index, word] of words.entries()) {
    if (heard.has(index)) continue;
    const before = words.findLastIndex((_, other) => other < index && heard.has(other));
    const after = words.findIndex((_, other) => other > index && heard.has(other));
    if (before !== -1) joined[before] = `${joined[before]}${separator}${word}`;
    else if (after !== -1) joined[after] = `${word}${separator}${joined[after]}`;
  }
  return joined;
}
