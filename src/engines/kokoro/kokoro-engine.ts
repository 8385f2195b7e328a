import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { KokoroSpeechOptions } from "./kokoro-speech.ts";

const settings = z
  .strictObject({
    model: z.string().min(1).default("hibari").describe("ID of a built-in model: hibari or kokoro-82m"),
    voices: z
      .record(z.string().min(1), z.string().min(1))
      .default({})
      .describe("Aliases of voices, such as `nova: heart`. OpenAI's voice names have default aliases"),
    slots: z
      .int()
      .min(1)
      .max(64)
      .default(8)
      .describe("Concurrent requests, which alternate sentence by sentence; more wait"),
    threads: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe("Default: one for hibari; for kokoro-82m one per core, at most 4"),
    max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Maximum characters of a request"),
    language_check: z
      .boolean()
      .default(true)
      .describe("Whether texts that are clearly not in English are refused. Short texts, names and quotations pass"),
  })
  .transform(({ max_input_characters: maxInputCharacters, language_check: checksLanguage, ...rest }) => ({
    ...rest,
    maxInputCharacters,
    checksLanguage,
  }));

/** Kokoro and the small voices distilled from it. */
export const kokoroEngine = defineEngine({
  name: "kokoro",
  tasks: ["speech"],
  settings,
  module: siblingModule(import.meta.url, "./kokoro-speech"),
  async prepare({ model, ...rest }, _task, { pull, signal }): Promise<KokoroSpeechOptions> {
    return { ...rest, paths: (await pull({ model }, signal)).paths };
  },
});
