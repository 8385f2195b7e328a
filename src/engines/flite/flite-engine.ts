import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { fliteFacts } from "./flite-facts.ts";

const settings = z
  .strictObject({
    voices: z
      .record(z.string().min(1), z.string().min(1))
      .default({})
      .describe("Aliases of voices, such as `nova: slt`. OpenAI's voice names have default aliases"),
    slots: z
      .int()
      .min(1)
      .max(64)
      .default(8)
      .describe("Concurrent requests, which alternate sentence by sentence; more wait"),
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

export type FliteSettings = z.output<typeof settings>;

/** The voices of Carnegie Mellon's flite, which are part of the installation. */
export const fliteEngine = defineEngine({
  name: "flite",
  tasks: ["speech"],
  settings,
  module: siblingModule(import.meta.url, "./flite-speech"),
  // It is the fallback of every installation, and its idle process would take 94 MB.
  lazyFacts: fliteFacts,
});
