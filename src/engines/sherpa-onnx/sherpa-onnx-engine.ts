import { access } from "node:fs/promises";
import { invalidRequest, unsupportedValue } from "../../faults.ts";
import { defineEngine } from "../define-engine.ts";
import type { EngineServices } from "../engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { FAMILIES, type ModelPaths } from "./families.ts";
import { type SherpaOnnxSettings, sherpaOnnxSettings } from "./settings.ts";
import type { SherpaStart } from "./sherpa-onnx-child.ts";
import { isSpeechFamily, SPEECH_FAMILIES } from "./speech-families.ts";

/** Models in ONNX that transcribe or speak, through sherpa-onnx. */
export const sherpaOnnxEngine = defineEngine({
  name: "sherpa-onnx",
  tasks: ["speech", "transcription"],
  settings: sherpaOnnxSettings,
  module: siblingModule(import.meta.url, "./sherpa-onnx-child"),
  prepare: (settings, task, services) =>
    task === "speech" ? prepareSpeech(settings, services) : prepareTranscription(settings, services),
});

async function prepareTranscription(settings: SherpaOnnxSettings, services: EngineServices): Promise<SherpaStart> {
  const family = settings.family ?? "moonshine";
  if (isSpeechFamily(family)) throw unsupportedValue(`The family ${family} speaks; it does not transcribe.`, "family");
  const paths = await findFiles(settings, services);
  const isTokenized = paths.tokenizer !== undefined;
  await expectFiles(paths, family, [...FAMILIES[family].roles, ...(isTokenized ? [] : ["tokens"]), "vad"]);
  const { slots, threads } = settings;
  const languages = settings.languages ?? FAMILIES[family].languages ?? ["en"];
  return { task: "transcription", settings: { family, paths, languages, slots, threads } };
}

async function prepareSpeech(settings: SherpaOnnxSettings, services: EngineServices): Promise<SherpaStart> {
  const { family, slots, threads, voices, max_input_characters: mostInputCharacters } = settings;
  if (!isSpeechFamily(family)) {
    const known = Object.keys(SPEECH_FAMILIES).join(", ");
    throw invalidRequest(`To speak, \`family\` has to be one of ${known}.`, "family");
  }
  const paths = await findFiles(settings, services);
  await expectFiles(paths, family, SPEECH_FAMILIES[family].roles);
  return { task: "speech", settings: { family, paths, voices, mostInputCharacters, slots, threads } };
}

async function findFiles({ model, files = {} }: SherpaOnnxSettings, services: EngineServices): Promise<ModelPaths> {
  return model === undefined ? files : byRole((await services.pull({ model }, services.signal)).paths);
}

async function expectFiles(paths: ModelPaths, family: string, roles: readonly string[]): Promise<void> {
  for (const role of roles) {
    const path = paths[role];
    if (path === undefined)
      throw invalidRequest(`A model of the family ${family} needs files.${role}.`, `files.${role}`);
    await access(path).catch(() => {
      throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
    });
  }
}

/** In the manifest a file's name begins with its role. */
function byRole(paths: Readonly<Record<string, string>>): ModelPaths {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name.split(".", 1)[0], path]));
}
