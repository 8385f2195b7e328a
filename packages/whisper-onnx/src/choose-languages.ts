/** Decides where the language of a recording changes. */

import type { DetectedLanguage } from "./rank-languages.ts";

/** Speech whose language was detected by itself. */
export interface SpeechStretch {
  seconds: number;
  /** What it may be in, the likeliest first. */
  languages: readonly DetectedLanguage[];
}

/**
 * Below this, a window of speech with pauses may be in two languages. Three seconds of another language in 17 to 24 s left
 * 0.97 to 0.988, a change in the middle 0.57 to 0.85. Of 17 windows in one language, three had less than 0.99.
 */
const MIN_UNIFORM_PROBABILITY = 0.99;
/** In shorter speech the language is a guess. */
const MIN_SECONDS = 1;
/** English clips of 1 to 2.5 s had other languages up to 0.9, longer ones in noise of 0 dB up to 0.71. */
const SHORT_SECONDS = 3;
const MIN_PROBABILITY = { short: 0.9, long: 0.75 };

/** Whether speech may be in more than one language. */
export function isMaybeMixed([likeliest]: readonly DetectedLanguage[]): boolean {
  return (likeliest?.probability ?? 0) < MIN_UNIFORM_PROBABILITY;
}

/** Whether the speech is long enough for a change of the language. */
export function isLongEnough(seconds: number): boolean {
  return seconds >= MIN_SECONDS;
}

/** The language of each stretch: that of the one before (of the first, `previous`), unless another is nearly certain. */
export function chooseLanguages(stretches: readonly SpeechStretch[], previous: string): string[] {
  let current = previous;
  return stretches.map(({ seconds, languages: [likeliest] }) => {
    const minProbability = seconds < SHORT_SECONDS ? MIN_PROBABILITY.short : MIN_PROBABILITY.long;
    const isCertain = isLongEnough(seconds) && likeliest !== undefined && likeliest.probability >= minProbability;
    if (isCertain) current = likeliest.language;
    return current;
  });
}
