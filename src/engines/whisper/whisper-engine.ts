import { access } from "node:fs/promises";
import { z } from "zod";
import type { EngineServices } from "../../contracts/engine.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { findSpeakerModel } from "../shared/find-speaker-model.ts";
import type { WhisperSettings } from "./whisper-transcription.ts";

const path = z.string().min(1).max(4096);

const settings = z
  .strictObject({
    model: z.string().min(1).optional().describe("ID of a built-in model, such as whisper-base"),
    files: z
      .strictObject({
        model: path.describe("model.bin, in float16 or float32"),
        tokenizer: path.describe("tokenizer.json"),
        config: path.describe("config.json from the same folder"),
        vad: path.describe("Silero's voice activity model, silero_vad.onnx"),
      })
      .optional()
      .describe("Paths of the files of a Whisper model in the format of CTranslate2 (faster-whisper)"),
    languages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, { error: "must be ISO 639-1 codes such as en" }))
      .min(1)
      .optional()
      .describe(
        "Languages that requests may use; a single one disables detection. Default: all languages of the model",
      ),
    translates: z.boolean().default(true).describe("Whether the model translates other languages into English"),
    beam_size: z
      .int()
      .min(1)
      .max(10)
      .default(5)
      .describe(
        "Transcripts that are searched in parallel at temperature 0, as in faster-whisper; 1 is faster and less accurate",
      ),
    best_of: z
      .int()
      .min(1)
      .max(10)
      .default(5)
      .describe(
        "Transcripts that are sampled at temperatures above 0, of which the likeliest counts, as in OpenAI's Whisper",
      ),
    compute_type: z
      .enum(["auto", "int8", "float32"])
      .default("auto")
      .describe(
        "Type of matrix products, as in faster-whisper. int8 takes 0.65 times the CPU time of float32; auto is int8 where the processor has instructions that make it as accurate (VNNI, or ARM), else float32",
      ),
    slots: z.int().min(1).max(64).default(4).describe("Recordings transcribed concurrently; more wait"),
    threads: z.int().min(1).max(64).optional().describe("Default: one per core, at most 4"),
  })
  .refine((value) => (value.model === undefined) !== (value.files === undefined), {
    error: "needs exactly one of `model` and `files`",
  });

type Paths = WhisperSettings["paths"];

/** Whisper models in CTranslate2's format, run by ONNX Runtime. */
export const whisperEngine = defineEngine({
  name: "whisper",
  tasks: ["transcription"],
  settings,
  describe: async ({ languages, translates, files }, _task, services) => ({
    task: "transcription",
    languages,
    // Files of others may lack the heads that time words, or not translate.
    ...(files === undefined && {
      abilities: {
        translation: translates,
        prompt: true,
        temperature: true,
        wordTimes: true,
        diarization: (await findSpeakerModel(services)) !== undefined,
      },
    }),
  }),
  module: siblingModule(import.meta.url, "./whisper-transcription"),
  async prepare({ model = "", files, ...rest }, _task, services): Promise<WhisperSettings> {
    const paths = files ?? (await pullFiles(model, services));
    for (const [role, path] of Object.entries(paths)) {
      await access(path).catch(() => {
        throw invalidRequest(`files.${role}: ${path} cannot be read.`, `files.${role}`);
      });
    }
    const {
      languages,
      translates,
      beam_size: beamSize,
      best_of: bestOf,
      compute_type: computeType,
      slots,
      threads,
    } = rest;
    const speakerModel = await findSpeakerModel(services);
    return { paths, languages, translates, beamSize, bestOf, computeType, speakerModel, slots, threads };
  },
});

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
