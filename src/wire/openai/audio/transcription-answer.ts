/** Renders a transcript in each `response_format`, complete or as server-sent events. */

import { deflateSync } from "node:zlib";
import type { TranscriptionEvent, TranscriptSegment } from "../../../contracts/transcription-model.ts";
import type { ParsedTranscription, TranscriptFormat } from "./transcription-body.ts";
import { toSrt, toVtt } from "./transcription-subtitles.ts";

type Events = AsyncIterable<TranscriptionEvent>;
type AnswerRequest = Pick<ParsedTranscription, "format" | "lists" | "request">;

interface Transcript {
  segments: TranscriptSegment[];
  audioSeconds: number;
  language: string | undefined;
  warnings: readonly string[];
}

export const TRANSCRIPT_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: "application/json; charset=utf-8",
  verbose_json: "application/json; charset=utf-8",
  diarized_json: "application/json; charset=utf-8",
  text: "text/plain; charset=utf-8",
  srt: "text/plain; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

export async function toTranscript(events: Events, request: AnswerRequest): Promise<string> {
  const transcript = await gather(events);
  switch (request.format) {
    case "text":
      return `${joinText(transcript.segments)}\n`;
    case "srt":
      return toSrt(transcript.segments);
    case "vtt":
      return toVtt(transcript.segments);
    case "json":
      return JSON.stringify({ text: joinText(transcript.segments), usage: toUsage(transcript.audioSeconds) });
    case "verbose_json":
      return JSON.stringify(toVerbose(transcript, request));
    case "diarized_json":
      return JSON.stringify(toDiarized(transcript, request.lists.words));
  }
}

export async function transcriptText(events: Events): Promise<string> {
  return joinText((await gather(events)).segments);
}

/** The concatenated deltas equal the text of the last event. `hasWords`: segments list their words. */
export async function* toTranscriptEvents(events: Events, hasWords = false): AsyncGenerator<string> {
  let text = "";
  let count = 0;
  let tokens: number | undefined;
  for await (const event of events) {
    if (event.type === "finish") {
      const usage = toTokenUsage(event.audioSeconds, tokens ?? estimateTokens(text));
      yield toFrame({ type: "transcript.text.done", text, usage });
      continue;
    }
    const delta = toDelta(event, text);
    if (delta !== "") {
      text += delta;
      yield toFrame({ type: "transcript.text.delta", delta });
    }
    if (event.type === "delta") continue;
    const { startSeconds, endSeconds, speaker, confidence } = event;
    if (confidence !== undefined) tokens = (tokens ?? 0) + confidence.tokens.length;
    yield toFrame({
      type: "transcript.text.segment",
      id: `seg_${count}`,
      start: toSeconds(startSeconds),
      end: toSeconds(endSeconds),
      text: event.text,
      speaker: speaker ?? UNKNOWN_SPEAKER,
      ...(hasWords && { words: toWords(event) }),
    });
    count += 1;
  }
}

/** The text that a segment adds to the transcript so far. */
function toDelta(event: Exclude<TranscriptionEvent, { type: "finish" }>, before: string): string {
  if (event.type === "delta") return event.text;
  if (event.isStreamed === true) return "";
  return before === "" ? event.text : `${spaceBetween(before, event.text)}${event.text}`;
}

async function gather(events: Events): Promise<Transcript> {
  const segments: TranscriptSegment[] = [];
  for await (const event of events) {
    if (event.type === "segment") segments.push(event);
    else if (event.type === "finish") {
      const { audioSeconds, language, warnings = [] } = event;
      return { segments, audioSeconds, language, warnings };
    }
  }
  throw new Error("The transcript has no end");
}

function toVerbose(transcript: Transcript, { lists, request }: AnswerRequest) {
  const { segments, audioSeconds, language, warnings } = transcript;
  return {
    task: request.translate ? "translate" : "transcribe",
    language: language === undefined ? null : toLanguageName(language),
    duration: toSeconds(audioSeconds),
    text: joinText(segments),
    ...(lists.segments ? { segments: segments.map((segment, id) => toSegment(segment, id, request.temperature)) } : {}),
    ...(lists.words ? { words: segments.flatMap(toWords) } : {}),
    usage: toUsage(audioSeconds),
    ...(segments.some(({ confidence }) => confidence === undefined) ? { x_unknown: UNKNOWN_FIELDS } : {}),
    ...(warnings.length > 0 ? { x_warnings: warnings } : {}),
  };
}

function toDiarized({ segments, audioSeconds }: Transcript, hasWords: boolean) {
  return {
    task: "transcribe",
    duration: toSeconds(audioSeconds),
    text: joinText(segments),
    segments: segments.map((segment, index) => ({
      type: "transcript.text.segment",
      id: `seg_${index}`,
      start: toSeconds(segment.startSeconds),
      end: toSeconds(segment.endSeconds),
      text: segment.text,
      speaker: segment.speaker ?? UNKNOWN_SPEAKER,
      ...(hasWords && { words: toWords(segment) }),
    })),
    usage: toUsage(audioSeconds),
  };
}

/** As the API names the first speaker. */
const UNKNOWN_SPEAKER = "A";

/** Fields of segments that are 0 or empty because the engine does not report them. */
const UNKNOWN_FIELDS = ["tokens", "avg_logprob", "no_speech_prob"];

function toSegment({ startSeconds, endSeconds, text, confidence }: TranscriptSegment, id: number, temperature: number) {
  return {
    id,
    // Whisper's unit: frames of 10 ms.
    seek: Math.round(startSeconds * 100),
    start: toSeconds(startSeconds),
    end: toSeconds(endSeconds),
    text,
    // Clients read these as a list and as numbers, also where the engine does not report them.
    tokens: confidence?.tokens ?? [],
    temperature: confidence?.temperature ?? temperature,
    avg_logprob: confidence?.averageLogProbability ?? 0,
    compression_ratio: compressionRatio(text),
    no_speech_prob: confidence?.noSpeechProbability ?? 0,
  };
}

function toWords({ words = [] }: TranscriptSegment) {
  return words.map(({ word, startSeconds, endSeconds }) => ({
    word,
    start: toSeconds(startSeconds),
    end: toSeconds(endSeconds),
  }));
}

/** Whisper's definition: size of the text divided by its size when compressed with zlib. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return Math.round((bytes.length / deflateSync(bytes).length) * 1000) / 1000;
}

function joinText(segments: readonly TranscriptSegment[]): string {
  return segments.map(({ text }, index) => spaceBetween(segments[index - 1]?.text ?? "", text) + text).join("");
}

/** Scripts written without spaces, such as Chinese, Japanese and Thai. */
const UNSPACED =
  "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}！，．：；？]";
const ENDS_UNSPACED = new RegExp(`${UNSPACED}$`, "u");
const BEGINS_UNSPACED = new RegExp(`^${UNSPACED}`, "u");

function spaceBetween(before: string, after: string): "" | " " {
  return before === "" || (ENDS_UNSPACED.test(before.slice(-2)) && BEGINS_UNSPACED.test(after)) ? "" : " ";
}

function toUsage(audioSeconds: number) {
  return { type: "duration", seconds: Math.ceil(audioSeconds) };
}

/**
 * Clients read the usage of a stream in tokens. Transcriptions are counted in seconds: an input token is a started second,
 * an output token one of the engine's, or four bytes of text.
 */
function toTokenUsage(audioSeconds: number, outputTokens: number) {
  const seconds = Math.ceil(audioSeconds);
  return {
    type: "tokens",
    input_tokens: seconds,
    output_tokens: outputTokens,
    total_tokens: seconds + outputTokens,
    input_token_details: { audio_tokens: seconds, text_tokens: 0 },
    seconds,
  };
}

function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

function toSeconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** This API names languages in English: `en` becomes `english`. */
function toLanguageName(code: string): string {
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code)?.toLowerCase() ?? code;
}

function toFrame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
