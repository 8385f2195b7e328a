import { chooseLanguages, isLongEnough, isMaybeMixed } from "./choose-languages.ts";
import type { DetectedLanguage } from "./rank-languages.ts";
import { spokenSeconds } from "./spoken-languages.ts";
import type { EncoderOutput } from "./whisper-network.ts";
import { partsAtPauses, partsByLanguage, type SpeechWindow } from "./window-parts.ts";

/** Encoded speech. */
export interface Heard {
  encoderOutput: EncoderOutput;
  /** What it may be in, the likeliest first; empty: not detected. */
  languages: readonly DetectedLanguage[];
}

/**
 * The window with its language, or its parts if the language changes in it. `previous` is the language of the speech before;
 * `listen` encodes a stretch of the window, or returns undefined once the transcription is aborted.
 */
export async function divideByLanguage(
  window: SpeechWindow,
  { languages }: Heard,
  previous: string | undefined,
  listen: (samples: Float32Array) => Promise<Heard | undefined>,
): Promise<SpeechWindow[]> {
  const [likeliest] = languages;
  if (likeliest === undefined) return [{ ...window, language: previous }];
  const before = previous ?? likeliest.language;
  if (window.speech.length === 1 || !isMaybeMixed(languages)) {
    const [language] = chooseLanguages([{ seconds: spokenSeconds(window.speech), languages }], before);
    return [{ ...window, language }];
  }
  const stretches: { seconds: number; heard: Heard | undefined }[] = [];
  for (const [index, { samples }] of partsAtPauses(window).entries()) {
    const seconds = spokenSeconds(window.speech.slice(index, index + 1));
    stretches.push({ seconds, heard: isLongEnough(seconds) ? await listen(samples) : undefined });
  }
  const spoken = stretches.map(({ seconds, heard }) => ({ seconds, languages: heard?.languages ?? [] }));
  const chosen = chooseLanguages(spoken, before);
  const outputs = stretches.map(({ heard }, index) => ({
    language: chosen[index],
    encoderOutput: heard?.encoderOutput,
  }));
  return partsByLanguage(window, outputs);
}
