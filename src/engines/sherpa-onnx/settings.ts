/** Settings of a deployment of this engine. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { FAMILIES, type FamilyName } from "./families.ts";
import { SPEECH_FAMILIES, type SpeechFamilyName } from "./speech-families.ts";

const path = z.string().min(1).max(4096);

const NAMES = [...Object.keys(FAMILIES), ...Object.keys(SPEECH_FAMILIES)] as [FamilyName | SpeechFamilyName];

const fields = lazy.strictObject(() => ({
  model: z
    .string()
    .regex(/^piper:/, { error: "must be a voice of Piper, such as piper:de_DE-thorsten-medium" })
    .optional()
    .describe(
      "Speech: a voice of Piper by its name on the hub, such as piper:de_DE-thorsten-medium, instead of family and files.model",
    ),
  files: z
    .record(z.string(), path)
    .default({})
    .describe(
      "Paths of the model's files by role. Transcription: encoder, decoder, joiner, model, tokens and vad (Silero, version 5). Speech: model, tokens, voices, vocoder, lexicon, config (Piper's .onnx.json) and data (the folder espeak-ng-data)",
    ),
  family: z
    .enum(NAMES)
    .optional()
    .describe(
      "The model's architecture. Tested with real models: moonshine, piper, kokoro. Experimental, never tested with real models: the others",
    ),
  languages: z
    .array(z.string().regex(/^[a-z]{2,3}$/, { error: "must be ISO 639-1 codes such as en" }))
    .min(1)
    .optional()
    .describe(
      "Languages that the model knows, the default first. Default: those of Piper's config, all of the family, or en",
    ),
  voices: z
    .record(z.string().min(1), z.int().min(0))
    .optional()
    .describe("Speech: the model's speaker numbers by voice name. Default: the numbers are the names"),
  max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Speech: maximum characters of the input"),
  language_check: z
    .boolean()
    .default(true)
    .describe(
      "Speech: whether texts that are clearly in none of the voice's languages are refused. Short texts, names and quotations pass",
    ),
  slots: z.int().min(1).max(64).default(4).describe("Concurrent requests; more wait"),
  threads: z.int().min(1).max(64).optional().describe("Default: one per core, at most 4"),
}));

export const sherpaOnnxSettings = fields.transform(({ family, ...settings }, context) => {
  const isPiper = settings.model !== undefined;
  if (family !== undefined && (!isPiper || family === "piper")) return { ...settings, family };
  if (isPiper && family === undefined) return { ...settings, family: "piper" as const };
  const message = isPiper
    ? "has to be piper, or left out, with a voice of Piper"
    : `is required without \`model\`: one of ${NAMES.join(", ")}`;
  context.issues.push({ code: "custom", input: family, path: ["family"], message });
  return z.NEVER;
});

export type SherpaOnnxSettings = z.output<typeof sherpaOnnxSettings>;
