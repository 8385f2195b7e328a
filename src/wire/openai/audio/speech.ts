/** POST /v1/audio/speech: the request body, and the events of `stream_format: "sse"`. */

import { AUDIO_FORMATS } from "@parlance-inference/audio/formats";
import { z } from "zod";
import type { SpeechRequest } from "../../../contracts/speech-model.ts";
import type { TranscriptWord } from "../../../contracts/transcription-model.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { named } from "../../openapi/named.ts";
import { optional } from "../optional.ts";
import type { UnsupportedField } from "../unknown-fields.ts";

/** Schema of a voice: OpenAI's custom voices are objects with an ID. */
const Voice = z.union([z.string().min(1), lazy.looseObject(() => ({ id: z.string().min(1) }))]);

const Input = z
  .string()
  .min(1)
  .refine((text) => text.trim() !== "", { message: "it contains only white space" });

/** There is one; clients may repeat it. */
const MAX_GRANULARITIES = 10;

/** Schema of the body; the model checks the length of `input`. */
export const SpeechBody = named(
  "SpeechBody",
  lazy.object(() => ({
    model: z.string().min(1),
    input: Input,
    voice: Voice,
    instructions: optional(z.string()),
    response_format: optional(z.enum(AUDIO_FORMATS)),
    speed: optional(z.number().min(0.25).max(4)),
    stream_format: optional(z.enum(["audio", "sse"])),
    timestamp_granularities: optional(
      listOf(z.enum(["word"]))
        .max(MAX_GRANULARITIES)
        .describe("Not in OpenAI's API. Needs `stream_format: sse`, and a model with word times."),
    ),
  })),
);

/** Unsupported fields: samples at an unexpected rate would play at the wrong speed. */
export const UNSUPPORTED_SPEECH_FIELDS: Readonly<Record<string, UnsupportedField>> = {
  sample_rate: { instead: "each voice has its own, and the format names it" },
};

export type SpeechBody = z.output<typeof SpeechBody>;

/** Throws a Fault when word times are wanted in an answer without events. */
export function toSpeechRequest(body: SpeechBody): SpeechRequest {
  const wordTimes = body.timestamp_granularities?.includes("word") === true;
  if (wordTimes && body.stream_format !== "sse") {
    const message = "The times of words are sent as events. Set 'stream_format' to \"sse\", too.";
    throw invalidRequest(message, "timestamp_granularities", "invalid_value");
  }
  return {
    model: body.model,
    text: body.input,
    voice: typeof body.voice === "string" ? body.voice : body.voice.id,
    speed: body.speed ?? 1,
    instructions: body.instructions === "" ? undefined : body.instructions,
    ...(wordTimes && { wordTimes }),
  };
}

export interface SpeechUsage {
  characters: number;
  audioSeconds: number;
}

/**
 * Streams audio as events and ends with what was `used`. `takeWords` returns the words that begin in the next audio. Speech is counted in characters and seconds; in the fields that
 * clients expect, an input token is a character and an output token a started second.
 */
export async function* toSpeechEvents(
  audio: AsyncIterable<Uint8Array>,
  used: Readonly<SpeechUsage>,
  takeWords: () => readonly TranscriptWord[],
): AsyncGenerator<string> {
  for await (const bytes of audio) {
    const words = takeWords();
    if (words.length > 0) yield toFrame({ type: "speech.audio.words", words: words.map(toWord) });
    yield toFrame({ type: "speech.audio.delta", audio: Buffer.from(bytes).toString("base64") });
  }
  const { characters, audioSeconds } = used;
  const seconds = Math.ceil(audioSeconds);
  yield toFrame({
    type: "speech.audio.done",
    usage: {
      input_tokens: characters,
      output_tokens: seconds,
      total_tokens: characters + seconds,
      input_characters: characters,
      output_audio_seconds: Number(audioSeconds.toFixed(3)),
    },
  });
}

function toWord({ word, startSeconds, endSeconds }: TranscriptWord) {
  return { word, start: toMilliseconds(startSeconds), end: toMilliseconds(endSeconds) };
}

/** Rounds down, so that no word ends after the audio. */
function toMilliseconds(seconds: number): number {
  return Math.floor(seconds * 1000) / 1000;
}

function toFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
