import { access } from "node:fs/promises";
import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine, EngineServices } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { WhisperEngineSettings } from "./settings.ts";
import type { WhisperSettings } from "./whisper-transcription.ts";

type Paths = WhisperSettings["paths"];

/** Whisper models in the format of CTranslate2, run by ONNX Runtime in a supervised process of their own. */
export const whisperEngine: Engine<WhisperEngineSettings> = {
  async open({ languages, translates, slots, threads, ...chosen }, task, services) {
    if (task !== "transcription") {
      throw unsupportedValue(`The engine whisper does not do ${task}; only transcription.`, "task");
    }
    const paths = chosen.files ?? (await pullFiles(chosen.model ?? "", services));
    for (const [role, path] of Object.entries(paths)) {
      await access(path).catch(() => {
        throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
      });
    }
    return hostModel({
      name: services.name,
      module: siblingModule(import.meta.url, "./whisper-child"),
      settings: { paths, languages, translates, slots, threads } satisfies WhisperSettings,
      logger: services.logger,
      signal: services.signal,
    });
  },
};

async function pullFiles(model: string, services: EngineServices): Promise<Paths> {
  const { paths } = await services.pull({ model }, services.signal);
  const find = (name: string): string => {
    const path = paths[name];
    if (path === undefined) throw invalidRequest(`${model} has no file ${name}; it is not a Whisper model.`, "model");
    return path;
  };
  return {
    model: find("model.bin"),
    tokenizer: find("tokenizer.json"),
    config: find("config.json"),
    vad: find("vad.onnx"),
  };
}
