/** What a deployment of this engine may say in the configuration. */

import { z } from "zod";
import { FAMILIES, type FamilyName } from "./families.ts";
import { SPEECH_FAMILIES, type SpeechFamilyName } from "./speech-families.ts";

const path = z.string().min(1).max(4096);

export const sherpaOnnxSettings = z
  .strictObject({
    model: z.string().min(1).optional().describe("A model that Parlance knows, such as moonshine-base-en"),
    files: z
      .record(z.string(), path)
      .optional()
      .describe(
        "Paths of the model's own files, by their role: encoder, decoder, joiner, model, tokens and vad (Silero) to transcribe; model, tokens, voices, vocoder, lexicon, config (Piper's .onnx.json) and data (the folder espeak-ng-data) to speak",
      ),
    family: z
      .enum([...Object.keys(FAMILIES), ...Object.keys(SPEECH_FAMILIES)] as [FamilyName | SpeechFamilyName])
      .optional()
      .describe(
        "Architecture of the model; required with `files`. Tested with real weights: moonshine, piper and kokoro. The other families are experimental",
      ),
    languages: z
      .array(z.string().regex(/^[a-z]{2,3}$/, { error: "must be ISO 639-1 codes such as en" }))
      .min(1)
      .optional()
      .describe("Languages that it knows, the first being its usual one. Left out: all that the family knows, or en"),
    voices: z
      .record(z.string().min(1), z.int().min(0))
      .optional()
      .describe("Numbers of the model's speakers by the names that are offered, to speak. Left out: the numbers"),
    max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Characters of a text to speak"),
    slots: z.int().min(1).max(64).default(4).describe("Recordings transcribed, or texts spoken, by turns; more wait"),
    threads: z.int().min(1).max(64).optional().describe("Left out: one for each core, at most 4"),
  })
  .refine((value) => (value.model === undefined) !== (value.files === undefined), {
    error: "needs exactly one of `model` and `files`",
  })
  .refine((value) => value.files === undefined || value.family !== undefined, {
    error: "is needed with `files`",
    path: ["family"],
  });

export type SherpaOnnxSettings = z.output<typeof sherpaOnnxSettings>;
