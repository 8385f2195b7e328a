import { access } from "node:fs/promises";
import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine, EngineServices } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { FAMILIES, type FamilyName, type ModelPaths } from "./families.ts";
import type { SherpaOnnxSettings } from "./settings.ts";
import type { SherpaTranscriptionSettings } from "./sherpa-transcription.ts";

/** Speech recognition models in ONNX through sherpa-onnx, in a supervised process of their own. */
export const sherpaOnnxEngine: Engine<SherpaOnnxSettings> = {
  async open(settings, task, services) {
    if (task !== "transcription") {
      throw unsupportedValue(`The engine sherpa-onnx does not do ${task}; only transcription.`, "task");
    }
    const family = settings.family ?? "moonshine";
    const paths = await findFiles(settings, family, services);
    const { slots, threads } = settings;
    const languages = settings.languages ?? (FAMILIES[family].takesLanguage ? undefined : ["en"]);
    return hostModel({
      name: services.name,
      module: siblingModule(import.meta.url, "./sherpa-onnx-child"),
      settings: { family, paths, languages, slots, threads } satisfies SherpaTranscriptionSettings,
      logger: services.logger,
      signal: services.signal,
    });
  },
};

async function findFiles(
  { model, files = {} }: SherpaOnnxSettings,
  family: FamilyName,
  { pull, signal }: EngineServices,
): Promise<ModelPaths> {
  const paths = model === undefined ? files : byRole((await pull({ model }, signal)).paths);
  const roles = [...FAMILIES[family].roles, ...(paths.tokenizer === undefined ? ["tokens"] : []), "vad"];
  for (const role of roles) {
    const path = paths[role];
    if (path === undefined)
      throw invalidRequest(`A model of the family ${family} needs files.${role}.`, `files.${role}`);
    await access(path).catch(() => {
      throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
    });
  }
  return paths;
}

/** In the manifest a file's name begins with its role. */
function byRole(paths: Readonly<Record<string, string>>): ModelPaths {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name.split(".", 1)[0], path]));
}
