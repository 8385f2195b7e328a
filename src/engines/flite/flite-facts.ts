import { FLITE_OUTPUT_RATE, FLITE_VOICES } from "@parlance-inference/english-tts/flite-voices";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import { completeAliases } from "../shared/voices.ts";

/** Voices by OpenAI's names, with the gender that these suggest; `fable` has a British accent. */
const DEFAULT_ALIASES: Readonly<Record<string, (typeof FLITE_VOICES)[number]>> = {
  ash: "rms",
  ballad: "awb",
  cedar: "rms",
  echo: "kal16",
  fable: "awb",
  onyx: "rms",
  verse: "awb",
};

export type FliteFacts = Omit<SpeechModel, "speak" | "health" | "close">;

/** Describes the model without starting it. Throws a Fault when an alias names an unknown voice. */
export function fliteFacts({ slots, voices }: { slots: number; voices: Readonly<Record<string, string>> }): FliteFacts {
  return {
    task: "speech",
    device: "cpu",
    slots,
    voices: FLITE_VOICES,
    voiceAliases: completeAliases(FLITE_VOICES, DEFAULT_ALIASES, voices),
    languages: ["en"],
    sampleRate: FLITE_OUTPUT_RATE,
    wordTimes: false,
  };
}
