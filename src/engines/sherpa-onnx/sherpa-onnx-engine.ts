import { access } from "node:fs/promises";
import type { EngineServices } from "../../contracts/engine.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { PIPER_PREFIX, parsePiperName } from "../../kernel/piper-name.ts";
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
  describe: async ({ model, family, languages, voices }, task) => {
    if (task === "speech") {
      const spoken = languages ?? (model && [parsePiperName(model.slice(PIPER_PREFIX.length)).language]);
      return { task, languages: spoken || undefined, voices: voices && Object.keys(voices) };
    }
    return {
      task: "transcription",
      languages: languages ?? (isSpeechFamily(family) ? undefined : FAMILIES[family].languages),
    };
  },
  module: siblingModule(import.meta.url, "./sherpa-onnx-child"),
  async prepare(settings, task, services) {
    const start = await (task === "speech" ? prepareSpeech(settings, services) : prepareTranscription(settings));
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

async function prepareSpeech(settings: SherpaOnnxSettings, services: EngineServices): Promise<SherpaStart> {
  const { model, family, slots, threads, voices, languages } = settings;
  const paths = model === undefined ? settings.files : await pullVoice(model, settings.files, services);
  const { max_input_characters: maxInputCharacters, language_check: checksLanguage } = settings;
  if (!isSpeechFamily(family)) {
    const families = Object.keys(SPEECH_FAMILIES).join(", ");
    throw invalidRequest(`For speech, \`family\` has to be one of ${families}.`, "family");
  }
  await requireFiles(paths, family, SPEECH_FAMILIES[family].roles);
  const texts = { maxInputCharacters, languages, checksLanguage };
  return { task: "speech", settings: { family, paths, voices, ...texts, slots, threads } };
}

/** Downloads a voice of Piper, and finds the data of espeak-ng. Throws a Fault. */
async function pullVoice(
  model: string,
  { data }: ModelPaths,
  { pull, signal }: Pick<EngineServices, "pull" | "signal">,
): Promise<ModelPaths> {
  const files = Object.entries((await pull({ model }, signal)).paths);
  const pathOf = (end: string) => files.find(([name]) => name.endsWith(end))?.[1] ?? "";
  return { model: pathOf(".onnx"), config: pathOf(".onnx.json"), data: data ?? (await findPhonemeData()) };
}

/** Folders of espeak-ng's data in Debian's packages, other distributions and Homebrew. */
const PHONEME_DATA = [
  "/usr/lib/x86_64-linux-gnu/espeak-ng-data",
  "/usr/lib/aarch64-linux-gnu/espeak-ng-data",
  "/usr/share/espeak-ng-data",
  "/opt/homebrew/share/espeak-ng-data",
];

async function findPhonemeData(): Promise<string> {
  for (const folder of PHONEME_DATA) {
    const exists = await access(folder).then(
      () => true,
      () => false,
    );
    if (exists) return folder;
  }
  throw invalidRequest(
    "Voices of Piper need the folder espeak-ng-data, which is not on this machine: install the package espeak-ng-data, or set files.data.",
    "files.data",
  );
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
