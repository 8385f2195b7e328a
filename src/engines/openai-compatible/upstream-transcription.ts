/** A transcription model behind any API of OpenAI's kind: the upload is sent on from disk, a stream passed on as it comes. */

import type { FormData } from "undici";
import { z } from "zod";
import type {
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../../contracts/transcription-model.ts";
import { FairTurns } from "../../kernel/async/fair-turns.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Exchange, ResponseHead } from "./connection/exchange.ts";
import { parseOrUndefined, readText } from "./connection/read-body.ts";
import { MissingFeatureError } from "./missing-features.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { readTranscriptStream } from "./transcript-stream.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

const Transcript = lazy.object(() => ({
  text: z.string().nullish(),
  language: z.string().nullish(),
  duration: z.coerce.number().nullish(),
  segments: z
    .array(
      z.object({
        start: z.number(),
        end: z.number(),
        text: z.string(),
        speaker: z.string().nullish(),
        tokens: z.array(z.int()).nullish(),
        avg_logprob: z.number().nullish(),
        no_speech_prob: z.number().nullish(),
        temperature: z.number().nullish(),
      }),
    )
    .nullish(),
  words: z.array(z.object({ word: z.string(), start: z.number(), end: z.number() })).nullish(),
  /** Another instance of Parlance: fields of its segments that are 0 because its engine does not report them. */
  x_unknown: z.array(z.string()).nullish(),
}));
type Transcript = z.output<typeof Transcript>;

/** Sample rate of the samples in a request. */
const SAMPLE_RATE = 16_000;

export class UpstreamTranscription extends UpstreamModel implements TranscriptionModel {
  readonly task = "transcription";
  readonly languages = undefined;
  /** The upstream refuses what it does not support. */
  readonly abilities = { translation: true, prompt: true, temperature: true, wordTimes: true, diarization: true };

  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    const operation = request.translate ? "audio/translations" : "audio/transcriptions";
    const context = this.contextOf(request.model, operation);
    const body = await toForm(request, context.upstreamModel);
    // The form's own Content-Type, with its boundary, is set where it is sent.
    const accept = request.stream ? "text/event-stream, application/json" : "application/json";
    const headers = { accept, "content-type": undefined };
    const exchange = this.send(operation, { body, headers, callerHeaders: request.callerHeaders }, signal);
    let isComplete = false;
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      const isStream = /^text\/event-stream\b/i.test(String(head.headers["content-type"]));
      if (head.status === 200 && isStream) {
        const { audioSeconds } = yield* readTranscriptStream(exchange);
        yield {
          type: "finish",
          audioSeconds: audioSeconds ?? (await secondsOf(request, signal)),
          language: request.language,
        };
      } else {
        const transcript = await this.#readWhole(exchange, head, context);
        if (signal.aborted) return;
        yield* toEvents(transcript, request, await secondsToldOrCounted(transcript, request, signal));
      }
      isComplete = true;
    } catch (error) {
      if (!signal.aborted) throw this.toFault(error, context);
    } finally {
      exchange.release(isComplete);
    }
  }

  async #readWhole(exchange: Exchange, head: ResponseHead, context: FaultContext): Promise<Transcript> {
    if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
    const answer = parseOrUndefined(await readText(exchange));
    const error = parseUpstreamError(answer);
    if (error !== undefined) throw error;
    const transcript = Transcript.safeParse(answer);
    if (transcript.success) return transcript.data;
    throw new UpstreamError("answered with something other than a transcript");
  }
}

async function secondsToldOrCounted(
  { duration, segments }: Transcript,
  request: TranscriptionRequest,
  signal: AbortSignal,
) {
  return duration ?? segments?.at(-1)?.end ?? (await secondsOf(request, signal));
}

/** Upstreams may have any number of slots, and each recording takes a process for as long as it is decoded. */
const measuring = new FairTurns({ slots: 4, maxHeld: 2 });

/** Measures the recording's duration for usage when the upstream does not report it. */
async function secondsOf({ samples, project = "" }: TranscriptionRequest, signal: AbortSignal): Promise<number> {
  return (await measuring.run(project, signal, () => measure(samples, signal))) ?? 0;
}

async function measure(samples: AsyncIterable<Float32Array>, signal: AbortSignal): Promise<number> {
  let count = 0;
  try {
    for await (const each of samples) {
      if (signal.aborted) break;
      count += each.length;
    }
  } catch (error) {
    // The upstream may read kinds of files that are not read here.
    if (!(error instanceof Fault)) throw error;
  }
  return count / SAMPLE_RATE;
}

async function toForm(request: TranscriptionRequest, model: string): Promise<FormData> {
  const undici = await import("undici");
  const form = new undici.FormData();
  form.append("model", model);
  form.append("response_format", toFormat(request));
  if (request.stream) form.append("stream", "true");
  if (request.language !== undefined) form.append("language", request.language);
  if (request.prompt !== undefined) form.append("prompt", request.prompt);
  if (request.temperature !== 0) form.append("temperature", String(request.temperature));
  if (request.speakers !== undefined) {
    // Upstreams refuse longer recordings without it.
    form.append("chunking_strategy", "auto");
    for (const name of request.speakers.names) form.append("known_speaker_names[]", name);
    for (const reference of request.speakers.references) form.append("known_speaker_references[]", reference);
  } else if (!request.translate && !request.stream) {
    form.append("timestamp_granularities[]", "segment");
    if (request.wordTimes) form.append("timestamp_granularities[]", "word");
  }
  form.append("file", await request.file.open(), request.file.name || "audio");
  return form;
}

/** For complete answers, a format with times; a stream's events contain them. */
function toFormat({ stream, speakers }: TranscriptionRequest): string {
  if (speakers !== undefined) return "diarized_json";
  return stream ? "json" : "verbose_json";
}

function* toEvents(
  transcript: Transcript,
  request: TranscriptionRequest,
  audioSeconds: number,
): Generator<TranscriptionEvent> {
  const text = transcript.text?.trim() ? transcript.text : undefined;
  // An empty text has no times, so it does not show whether the upstream reports them.
  const hasText = text !== undefined || Boolean(transcript.segments?.length);
  const reported = segmentsOf(transcript, request, hasText);
  // OpenAI's API refuses word times beside speakers and in streams, so they were not requested there.
  if (request.wordTimes && !transcript.words && hasText && request.speakers === undefined && !request.stream) {
    throw new MissingFeatureError("word-times");
  }
  const textAlone = reported.length === 0 ? text : undefined;
  if (textAlone !== undefined && request.stream) yield { type: "delta", text: textAlone };
  // Without times, the segment covers the entire recording.
  const single = { start: 0, end: audioSeconds, text: textAlone ?? "" };
  const segments = textAlone !== undefined && !request.stream ? [single] : reported;
  for (const index of segments.keys()) yield toSegment(segments, index, transcript, request.wordTimes);
  yield { type: "finish", audioSeconds, language: toCode(transcript.language ?? undefined) };
}

function toSegment(
  segments: readonly Segment[],
  index: number,
  { words, x_unknown: unknown }: Transcript,
  hasWords: boolean,
): TranscriptionEvent {
  const segment = segments[index] as Segment;
  const from = index === 0 ? Number.NEGATIVE_INFINITY : segment.start;
  const to = segments[index + 1]?.start ?? Number.POSITIVE_INFINITY;
  const segmentWords = words?.filter(({ start }) => start >= from && start < to) ?? [];
  return {
    type: "segment",
    startSeconds: segment.start,
    endSeconds: segment.end,
    text: segment.text.trim(),
    speaker: segment.speaker ?? undefined,
    words: hasWords
      ? segmentWords.map(({ word, start, end }) => ({ word, startSeconds: start, endSeconds: end }))
      : undefined,
    confidence: unknown ? undefined : confidenceOf(segment),
  };
}

type Segment = NonNullable<Transcript["segments"]>[number];

/** Throws when the upstream left out the segments that the request needs. */
function segmentsOf({ segments }: Transcript, request: TranscriptionRequest, hasText: boolean): readonly Segment[] {
  if (segments !== undefined && segments !== null) return segments;
  // One that does not stream answers in the format that a stream is asked for in, which has no times.
  if (request.stream || !hasText) return [];
  if (request.speakers !== undefined) throw new MissingFeatureError("speakers");
  throw new UpstreamError("left out the requested segments", { dependsOnRequest: true });
}

function confidenceOf({ tokens, avg_logprob, no_speech_prob, temperature }: Segment) {
  if (typeof avg_logprob !== "number" || typeof no_speech_prob !== "number") return undefined;
  return {
    tokens: tokens ?? [],
    averageLogProbability: avg_logprob,
    noSpeechProbability: no_speech_prob,
    temperature: temperature ?? undefined,
  };
}

/** Upstreams name languages as `english` or as `en`. */
function toCode(language: string | undefined): string | undefined {
  if (language === undefined || /^[a-z]{2,3}$/.test(language)) return language;
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  return CODES.find((code) => names.of(code)?.toLowerCase() === language.toLowerCase());
}

/** Every code of two letters. */
const CODES = Array.from({ length: 26 * 26 }, (_, index) =>
  String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26)),
);
