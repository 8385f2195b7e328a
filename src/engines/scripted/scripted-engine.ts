import { defineEngine } from "../define-engine.ts";
import { scriptedSettings } from "./settings.ts";

/** Engine for tests and demos: the configuration sets replies, delays, failures and crashes. */
export const scriptedEngine = defineEngine({
  name: "scripted",
  tasks: ["chat", "speech", "transcription", "image"],
  settings: scriptedSettings,
  isForTests: true,
  takesWildcards: true,
  module: () => import("./scripted-model.ts"),
});
