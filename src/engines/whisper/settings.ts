/** What a deployment of this engine may say in the configuration. */

import { z } from "zod";

const path = z.string().min(1).max(4096);

export const whisperSettings = z
  .strictObject({
    model: z.string().min(1).optional().describe("A model that Parlance knows, such as whisper-base"),
    files: z
      .strictObject({
        model: path.describe("model.bin, in float16 or float32"),
        tokenizer: path.describe("tokenizer.json"),
        config: path.describe("config.json, as it lies beside model.bin"),
        vad: path.describe("Silero's voice activity model, silero_vad.onnx"),
      })
      .optional()
      .describe("Paths of the files of a Whisper model in the format of CTranslate2 (faster-whisper)"),
    languages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, { error: "must be ISO 639-1 codes such as en" }))
      .min(1)
      .optional()
      .describe("Languages that are taken; with one alone nothing is detected. Left out: all that the model knows"),
    translates: z.boolean().default(true).describe("Whether it turns other languages into English"),
    slots: z.int().min(1).max(64).default(4).describe("Recordings transcribed by turns; more wait"),
    threads: z.int().min(1).max(64).optional().describe("Left out: one for each core, at most 4"),
  })
  .refine((value) => (value.model === undefined) !== (value.files === undefined), {
    error: "needs exactly one of `model` and `files`",
  });

export type WhisperEngineSettings = z.output<typeof whisperSettings>;
