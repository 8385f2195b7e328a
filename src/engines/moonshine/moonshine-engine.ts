import { access } from "node:fs/promises";
import { z } from "zod";
import type { EngineServices } from "../../contracts/engine.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { findSpeakerModel } from "../shared/find-speaker-model.ts";
import { MOONSHINE_ABILITIES } from "./moonshine-abilities.ts";
import type { MoonshineSettings } from "./moonshine-transcription.ts";

const path = z.string().min(1).max(4096);

const settings = z
  .strictObject({
    model: z.string().min(1).optional().describe("A built-in model, such as moonshine-base-en"),
    files: z
      .strictObject({
        encoder: path.describe("encoder_model.onnx"),
        decoder: path.describe("decoder_model_merged.onnx"),
        tokenizer: path.describe(
          "llama-tokenizer.js, the source of npm's llama-tokenizer-js, which holds the vocabulary",
        ),
        vad: path.describe("Silero's voice activity model, version 5"),
      })
      .optional()
      .describe("Paths of the files of a Moonshine model, as exported for moonshine-js"),
    language_check: z
      .enum(["refuse", "warn", "off"])
      .default("refuse")
      .describe(
        "What happens with speech that is clearly not in English, if whisper-tiny or whisper-base is on disk to detect it: a 400, or a warning in verbose_json",
      ),
    slots: z.int().min(1).max(64).default(4).describe("Recordings transcribed concurrently; more wait"),
    threads: z.int().min(1).max(64).optional().describe("Default: one per core, at most 4"),
  })
  .refine((value) => (value.model === undefined) !== (value.files === undefined), {
    error: "needs exactly one of `model` and `files`",
  });

type Paths = MoonshineSettings["paths"];

/** Moonshine models, run by ONNX Runtime. */
export const moonshineEngine = defineEngine({
  name: "moonshine",
  tasks: ["transcription"],
  settings,
  describe: async (_settings, _task, services) => {
    const diarization = (await findSpeakerModel(services)) !== undefined;
    return { task: "transcription", languages: ["en"], abilities: { ...MOONSHINE_ABILITIES, diarization } };
  },
  module: siblingModule(import.meta.url, "./moonshine-transcription"),
  async prepare(settings, _task, services): Promise<MoonshineSettings> {
    const { model = "", files, language_check: languageCheck, slots, threads } = settings;
    const paths = files ?? (await pullFiles(model, services));
    for (const [role, path] of Object.entries(paths)) {
      await access(path).catch(() => {
        throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
      });
    }
    const detector = languageCheck === "off" ? undefined : await findDetector(services);
    if (languageCheck !== "off" && detector === undefined) reportMissingCheck(services);
    const speakerModel = await findSpeakerModel(services);
    return { paths, languageCheck, detector, speakerModel, slots, threads };
  },
});

/** Multilingual models that recognize the spoken language, the fastest first. */
const DETECTORS = ["whisper-tiny", "whisper-base"];

/** Deployments that have reported it, because every load prepares again. */
const reported = new Set<string>();

function reportMissingCheck({ name, logger }: EngineServices): void {
  if (reported.has(name)) return;
  reported.add(name);
  const hint = "`parlance models pull whisper-base` adds the check, `language_check: off` turns it off";
  // The default installation is as it should be, so this is no warning.
  logger.info({ hint }, "the language of speech is not checked: no Whisper model is on disk");
}

async function findDetector(services: EngineServices): Promise<MoonshineSettings["detector"]> {
  for (const id of DETECTORS) {
    const {
      "model.bin": weights,
      "tokenizer.json": tokenizer,
      "config.json": config,
    } = (await services.findPulled(id))?.paths ?? {};
    if (weights !== undefined && tokenizer !== undefined && config !== undefined) return { weights, tokenizer, config };
  }
  return undefined;
}

async function pullFiles(model: string, services: EngineServices): Promise<Paths> {
  const { paths } = await services.pull({ model }, services.signal);
  const find = (name: string): string => {
    const path = paths[name];
    if (path === undefined) throw invalidRequest(`${model} has no file ${name}; it is not a Moonshine model.`, "model");
    return path;
  };
  return {
    encoder: find("encoder.onnx"),
    decoder: find("decoder.onnx"),
    tokenizer: find("tokenizer.js"),
    vad: find("vad.onnx"),
  };
}
