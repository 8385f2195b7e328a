import type { TranscriptionAbilities } from "../../contracts/transcription-model.ts";

/** Abilities of every Moonshine model; speaker labels depend on another model. */
export const MOONSHINE_ABILITIES: Omit<TranscriptionAbilities, "diarization"> = {
  translation: false,
  prompt: false,
  temperature: false,
  wordTimes: false,
};
