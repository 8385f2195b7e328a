/** A transcript: segments of speakers, with the times of their words. */

import { t } from "../../i18n/translate.ts";

export interface Word {
  text: string;
  /** Seconds. */
  start: number;
  end: number;
}

export interface Segment {
  id: number;
  /** Seconds. */
  start: number;
  end: number;
  text: string;
  /** Label such as `A`; null where the model tells no speakers apart. */
  speaker: string | null;
  words: Word[];
}

export interface Transcript {
  text: string;
  segments: Segment[];
  /** False where the times of words are estimated from their letters. */
  hasWordTimes: boolean;
}

/** Names of speakers by their labels. */
export type SpeakerNames = Readonly<Record<string, string>>;

export function nameOf(speaker: string, names: SpeakerNames): string {
  return names[speaker] ?? t("Speaker {{label}}", { label: speaker });
}

/** Labels in the order in which the speakers begin. */
export function speakersOf(segments: readonly Segment[]): string[] {
  return [...new Set(segments.flatMap(({ speaker }) => speaker ?? []))];
}

/** Share of each speaker in the time that anyone speaks, 0 to 1. */
export function talkShares(segments: readonly Segment[]): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { speaker, start, end } of segments) {
    if (speaker !== null) seconds.set(speaker, (seconds.get(speaker) ?? 0) + end - start);
  }
  const total = [...seconds.values()].reduce((sum, each) => sum + each, 0);
  return new Map([...seconds].map(([speaker, each]) => [speaker, total === 0 ? 0 : each / total]));
}

/** Divides the time of a segment among its words, by their letters. */
export function estimateWords({ text, start, end }: Pick<Segment, "text" | "start" | "end">): Word[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  let before = 0;
  return words.map((word) => {
    const at = (position: number) => start + ((end - start) * position) / letters;
    const timed = { text: word, start: at(before), end: at(before + word.length + 1) };
    before += word.length + 1;
    return timed;
  });
}

/** Replaces the text of one segment; its words take new times within it. */
export function withText(transcript: Transcript, id: number, text: string): Transcript {
  return withSegment(transcript, id, (segment) => ({ ...segment, text, words: estimateWords({ ...segment, text }) }));
}

export function withSpeaker(transcript: Transcript, id: number, speaker: string): Transcript {
  return withSegment(transcript, id, (segment) => ({ ...segment, speaker }));
}

function withSegment(transcript: Transcript, id: number, change: (segment: Segment) => Segment): Transcript {
  const segments = transcript.segments.map((segment) => (segment.id === id ? change(segment) : segment));
  return { ...transcript, segments, text: segments.map(({ text }) => text.trim()).join(" ") };
}

/** Index of the last entry that has begun at a time; -1 before the first. Entries are in the order of their starts. */
export function indexAt(entries: readonly { start: number }[], seconds: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
