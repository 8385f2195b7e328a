import { defineEngine } from "../define-engine.ts";
import { scriptedSettings } from "./settings.ts";

/** For tests and demos: replies, delays, failures and crashes are set in the configuration. */
export const scriptedEngine = defineEngine({
  name: "scripted",
  tasks: ["chat", "speech", "transcription"],
  settings: scriptedSettings,
  isForTests: true,
  takesWildcards: true,
  module: () => import("./scripted-model.ts"),
});
