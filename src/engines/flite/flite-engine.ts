import { z } from "zod";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { englishSpeechSettings, withSpeechLimits } from "../shared/speech-settings.ts";
import { fliteFacts } from "./flite-facts.ts";

const settings = z.strictObject(englishSpeechSettings).transform(withSpeechLimits);

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
