import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { KokoroSpeechOptions } from "./kokoro-speech.ts";

const settings = z
  .strictObject({
    model: z.string().min(1).default("hibari").describe("A model that Parlance knows: hibari, kokoro-82m"),
    voices: z
      .record(z.string().min(1), z.string().min(1))
      .default({})
      .describe("Other names for voices, such as `nova: heart`. OpenAI's names that are left out have a usual voice"),
    slots: z.int().min(1).max(64).default(8).describe("Requests spoken by turns, sentence by sentence; more wait"),
    threads: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe("Left out: one for hibari; for kokoro-82m one a core, at most 4"),
    max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Characters that a request may have"),
  })
  .transform(({ max_input_characters: mostInputCharacters, ...rest }) => ({ ...rest, mostInputCharacters }));

/** Kokoro and the small voices that were distilled from it. */
export const kokoroEngine = defineEngine({
  name: "kokoro",
  tasks: ["speech"],
  settings,
  module: siblingModule(import.meta.url, "./kokoro-speech"),
  async prepare({ model, ...rest }, _task, { pull, signal }): Promise<KokoroSpeechOptions> {
    return { ...rest, paths: (await pull({ model }, signal)).paths };
  },
});
