/** Entry point of a model's process. */

import type { Model } from "../../contracts/engine.ts";
import { SherpaSpeech, type SherpaSpeechSettings } from "./sherpa-speech.ts";
import { SherpaTranscription, type SherpaTranscriptionSettings } from "./sherpa-transcription.ts";

export type SherpaStart =
  | { task: "speech"; settings: SherpaSpeechSettings }
  | { task: "transcription"; settings: SherpaTranscriptionSettings };

export async function open(start: unknown): Promise<Model> {
  const { task, settings } = start as SherpaStart;
  return task === "speech" ? SherpaSpeech.load(settings) : SherpaTranscription.load(settings);
}
