import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { fliteFacts } from "./flite-facts.ts";

const settings = z
  .strictObject({
    voices: z
      .record(z.string().min(1), z.string().min(1))
      .default({})
      .describe("Other names for voices, such as `nova: slt`. OpenAI's names that are left out have a usual voice"),
    slots: z.int().min(1).max(64).default(8).describe("Requests spoken by turns, sentence by sentence; more wait"),
    max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Characters that a request may have"),
  })
  .transform(({ max_input_characters: mostInputCharacters, ...rest }) => ({ ...rest, mostInputCharacters }));

export type FliteSettings = z.output<typeof settings>;

/** The voices of Carnegie Mellon's flite, which are installed with Parlance. */
export const fliteEngine = defineEngine({
  name: "flite",
  tasks: ["speech"],
  settings,
  module: siblingModule(import.meta.url, "./flite-speech"),
  // It is the built-in fallback of every installation, and its idle process would take 94 MB.
  lazyFacts: fliteFacts,
});
