import { voicesIn } from "@parlance-inference/english-tts/voice-files";
import { languagesOf, voiceLanguages } from "@parlance-inference/english-tts/voice-languages";
import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { englishSpeechSettings, withSpeechLimits } from "../shared/speech-settings.ts";
import { kokoroAliases } from "./kokoro-aliases.ts";
import type { KokoroSpeechOptions } from "./kokoro-speech.ts";

const settings = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .default("hibari")
      .describe("ID of a built-in model: hibari, kokoro-82m or kokoro-82m-japanese"),
    ...englishSpeechSettings,
    threads: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe("Default: one for hibari; for kokoro-82m one per core, at most 4"),
  })
  .transform(withSpeechLimits);

/** Kokoro and the small voices distilled from it. */
export const kokoroEngine = defineEngine({
  name: "kokoro",
  tasks: ["speech"],
  settings,
  module: siblingModule(import.meta.url, "./kokoro-speech"),
  async describe({ model, voices: configured }, _task, { pull, signal }) {
    const voices = voicesIn((await pull({ model }, signal)).paths);
    return {
      task: "speech",
      voices,
      voiceAliases: kokoroAliases(voices, configured),
      languages: languagesOf(voices),
      voiceLanguages: voiceLanguages(voices),
      wordTimes: true,
    };
  },
  async prepare({ model, ...rest }, _task, { pull, signal }): Promise<KokoroSpeechOptions> {
    return { ...rest, paths: (await pull({ model }, signal)).paths };
  },
});
