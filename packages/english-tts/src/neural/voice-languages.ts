/** Languages of Kokoro's voices, whose names begin with a letter for the language: `ef_dora` is Spanish. */

import type { PhonemizedLanguage } from "@parlance-inference/kokoro-phonemes/open-phonemizer";

export type VoiceLanguage = "en" | PhonemizedLanguage;

const LANGUAGES: Readonly<Record<string, VoiceLanguage>> = {
  a: "en",
  b: "en",
  e: "es",
  f: "fr",
  h: "hi",
  i: "it",
  j: "ja",
  p: "pt",
  z: "zh",
};

/** ISO 639-1 code of a voice's language; for a mix that of its first voice. hibari's voices are English. */
export function languageOf(voice: string): VoiceLanguage {
  const letter = /^([a-z])[fm]_/.exec(voice)?.[1];
  return (letter === undefined ? undefined : LANGUAGES[letter]) ?? "en";
}

/** Whether a voice, or the first one of a mix, speaks British English. */
export function isBritish(voice: string): boolean {
  return /^b[fm]_/.test(voice);
}

/** Languages of several voices, each once. */
export function languagesOf(voices: readonly string[]): VoiceLanguage[] {
  return [...new Set(voices.map(languageOf))];
}

/** Language of each voice. */
export function voiceLanguages(voices: readonly string[]): Record<string, VoiceLanguage> {
  return Object.fromEntries(voices.map((voice) => [voice, languageOf(voice)]));
}
