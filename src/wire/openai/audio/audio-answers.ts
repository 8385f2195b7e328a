/** Answers about speech and transcription. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { named } from "../../openapi/named.ts";
import { ErrorAnswer } from "../../openapi/service-answers.ts";
import { openAnswers } from "../open-variants.ts";

const seconds = z.number().min(0);
const count = z.int().min(0);

const word = lazy.looseObject(() => ({ word: z.string(), start: seconds, end: seconds }));
const spokenWord = lazy.looseObject(() => ({
  word: z.string().describe("As it is written in the input, with its punctuation."),
  start: seconds.describe("From the beginning of the audio."),
  end: seconds,
}));

const TranscriptSegment = named(
  "TranscriptSegment",
  lazy.looseObject(() => ({
    id: count,
    seek: z.int().optional().describe("Frames of 10 ms."),
    start: seconds,
    end: seconds,
    text: z.string(),
    tokens: z.array(z.int()).optional(),
    temperature: z.number().optional(),
    avg_logprob: z.number().optional(),
    compression_ratio: z.number().optional(),
    no_speech_prob: z.number().optional(),
  })),
);

const DiarizedSegment = named(
  "DiarizedSegment",
  lazy.looseObject(() => ({
    type: z.literal("transcript.text.segment"),
    id: z.string(),
    start: seconds,
    end: seconds,
    text: z.string(),
    speaker: z.string(),
    words: z.array(word).optional(),
  })),
);

const duration = lazy.looseObject(() => ({ type: z.literal("duration"), seconds: z.number() }));
const tokens = lazy.looseObject(() => ({
  type: z.literal("tokens"),
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_token_details: z.looseObject({ audio_tokens: count.optional(), text_tokens: count.optional() }).optional(),
  seconds: z.number().optional().describe("Not in OpenAI's API."),
}));

export const Transcript = named(
  "Transcript",
  lazy.looseObject(() => ({
    text: z.string(),
    usage: z.union([duration, tokens]).optional(),
    task: z
      .enum(["transcribe", "translate"])
      .optional()
      .describe("Of `verbose_json` and `diarized_json`, as the rest."),
    language: z.string().nullable().optional().describe("In English; null when unknown."),
    duration: seconds.optional(),
    segments: z
      .array(z.union([TranscriptSegment, DiarizedSegment]))
      .optional()
      .describe("Of `diarized_json`: with speakers."),
    words: z.array(word).optional(),
    x_unknown: z
      .array(z.string())
      .optional()
      .describe("Fields of segments that the model does not report, and that are 0 or empty."),
    x_warnings: z.array(z.string()).optional(),
  })),
);

export const TranscriptEvent = named(
  "TranscriptEvent",
  z
    .union([
      openAnswers({
        "transcript.text.delta": z.looseObject({ type: z.literal("transcript.text.delta"), delta: z.string() }),
        "transcript.text.segment": DiarizedSegment,
        "transcript.text.done": lazy.looseObject(() => ({
          type: z.literal("transcript.text.done"),
          text: z.string(),
          usage: tokens.optional(),
        })),
      }),
      ErrorAnswer,
    ])
    .describe("An error ends the stream."),
);

export const SpeechEvent = named(
  "SpeechEvent",
  z
    .union([
      openAnswers({
        "speech.audio.delta": lazy.looseObject(() => ({
          type: z.literal("speech.audio.delta"),
          audio: z.string().describe("Base64."),
        })),
        "speech.audio.words": lazy.looseObject(() => ({
          type: z.literal("speech.audio.words"),
          words: z
            .array(spokenWord)
            .describe("Words in order, before the audio in which they begin. Not in OpenAI's API."),
        })),
        "speech.audio.done": lazy.looseObject(() => ({
          type: z.literal("speech.audio.done"),
          usage: z.looseObject({
            input_tokens: count.describe("Characters."),
            output_tokens: count.describe("Started seconds."),
            total_tokens: count,
            input_characters: count.optional(),
            output_audio_seconds: seconds.optional(),
          }),
        })),
      }),
      ErrorAnswer,
    ])
    .describe("An error ends the stream."),
);

export const SpeechModelList = named(
  "SpeechModelList",
  lazy.object(() => ({ models: z.array(z.object({ id: z.string(), name: z.string() })) })),
);

export const VoiceList = named(
  "VoiceList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        id: z.string(),
        object: z.literal("voice"),
        name: z.string(),
        model: z.string(),
        voice: z.string().describe("The model's own voice, which differs for aliases."),
        languages: z.array(z.string()).nullable().describe("ISO 639-1 codes; null when unknown."),
      }),
    ),
    voices: z.array(z.object({ id: z.string(), name: z.string() })),
  })),
);
