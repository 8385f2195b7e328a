import { access } from "node:fs/promises";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { FAMILIES, type ModelPaths } from "./families.ts";
import { requireSherpaOnnx } from "./load-sherpa-onnx.ts";
import { type SherpaOnnxSettings, sherpaOnnxSettings } from "./settings.ts";
import type { SherpaStart } from "./sherpa-onnx-child.ts";
import { isSpeechFamily, SPEECH_FAMILIES } from "./speech-families.ts";

/** Transcription and speech models in ONNX, run by sherpa-onnx where the operator installed it. */
export const sherpaOnnxEngine = defineEngine({
  name: "sherpa-onnx",
  tasks: ["speech", "transcription"],
  settings: sherpaOnnxSettings,
  describe: async ({ family, languages, voices }, task) => {
    if (task === "speech") return { task, languages, voices: voices && Object.keys(voices) };
    return {
      task: "transcription",
      languages: languages ?? (isSpeechFamily(family) ? undefined : FAMILIES[family].languages),
    };
  },
  module: siblingModule(import.meta.url, "./sherpa-onnx-child"),
  async prepare(settings, task) {
    const start = await (task === "speech" ? prepareSpeech(settings) : prepareTranscription(settings));
    requireSherpaOnnx();
    return start;
  },
});

async function prepareTranscription(settings: SherpaOnnxSettings): Promise<SherpaStart> {
  const { family, files: paths, slots, threads } = settings;
  if (isSpeechFamily(family))
    throw unsupportedValue(`The family ${family} is for speech, not for transcription.`, "family");
  await requireFiles(paths, family, [...FAMILIES[family].roles, "tokens", "vad"]);
  const languages = settings.languages ?? FAMILIES[family].languages ?? ["en"];
  return { task: "transcription", settings: { family, paths, languages, slots, threads } };
}

async function prepareSpeech(settings: SherpaOnnxSettings): Promise<SherpaStart> {
  const { family, files: paths, slots, threads, voices, languages } = settings;
  const { max_input_characters: maxInputCharacters, language_check: checksLanguage } = settings;
  if (!isSpeechFamily(family)) {
    const families = Object.keys(SPEECH_FAMILIES).join(", ");
    throw invalidRequest(`For speech, \`family\` has to be one of ${families}.`, "family");
  }
  await requireFiles(paths, family, SPEECH_FAMILIES[family].roles);
  const texts = { maxInputCharacters, languages, checksLanguage };
  return { task: "speech", settings: { family, paths, voices, ...texts, slots, threads } };
}

async function requireFiles(paths: ModelPaths, family: string, roles: readonly string[]): Promise<void> {
  for (const role of roles) {
    const path = paths[role];
    if (path === undefined)
      throw invalidRequest(`A model of the family ${family} needs files.${role}.`, `files.${role}`);
    await access(path).catch(() => {
      throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
    });
  }
}
