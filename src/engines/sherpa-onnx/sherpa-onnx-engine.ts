import { access } from "node:fs/promises";
import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine, EngineServices, Model } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { FAMILIES, type ModelPaths } from "./families.ts";
import type { SherpaOnnxSettings } from "./settings.ts";
import type { SherpaSpeechSettings } from "./sherpa-speech.ts";
import type { SherpaTranscriptionSettings } from "./sherpa-transcription.ts";
import { isSpeechFamily, SPEECH_FAMILIES } from "./speech-families.ts";

/** Models that transcribe or speak, in ONNX, through sherpa-onnx, in a supervised process of their own. */
export const sherpaOnnxEngine: Engine<SherpaOnnxSettings> = {
  async open(settings, task, services) {
    if (task === "speech") return openSpeech(settings, services);
    if (task !== "transcription") {
      const message = `The engine sherpa-onnx does not do ${task}; only speech and transcription.`;
      throw unsupportedValue(message, "task");
    }
    const family = settings.family ?? "moonshine";
    if (isSpeechFamily(family))
      throw unsupportedValue(`The family ${family} speaks; it does not transcribe.`, "family");
    const paths = await findFiles(settings, services);
    const isTokenized = paths.tokenizer !== undefined;
    await expectFiles(paths, family, [...FAMILIES[family].roles, ...(isTokenized ? [] : ["tokens"]), "vad"]);
    const { slots, threads } = settings;
    const languages = settings.languages ?? FAMILIES[family].languages ?? ["en"];
    return hostModel({
      name: services.name,
      module: siblingModule(import.meta.url, "./sherpa-onnx-child"),
      settings: { family, paths, languages, slots, threads } satisfies SherpaTranscriptionSettings,
      logger: services.logger,
      signal: services.signal,
    });
  },
};

async function openSpeech(settings: SherpaOnnxSettings, services: EngineServices): Promise<Model> {
  const { family, slots, threads, voices, max_input_characters: mostInputCharacters } = settings;
  if (!isSpeechFamily(family)) {
    const known = Object.keys(SPEECH_FAMILIES).join(", ");
    throw invalidRequest(`To speak, \`family\` has to be one of ${known}.`, "family");
  }
  const paths = await findFiles(settings, services);
  await expectFiles(paths, family, SPEECH_FAMILIES[family].roles);
  return hostModel({
    name: services.name,
    module: siblingModule(import.meta.url, "./sherpa-speech-child"),
    settings: { family, paths, voices, mostInputCharacters, slots, threads } satisfies SherpaSpeechSettings,
    logger: services.logger,
    signal: services.signal,
  });
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
