import { ApiError, send } from "../../api/request.ts";
import { readEvents } from "../../components/read-events.ts";
import { estimateWords, type Segment, type Transcript } from "./transcript.ts";

interface TranscriptEvent {
  type: string;
  delta?: string;
  text?: string;
  start?: number;
  end?: number;
  speaker?: string;
  words?: { word: string; start: number; end: number }[];
  error?: { message: string };
}

export interface TranscriptionRequest {
  model: string;
  recording: File;
  /** ISO 639-1; empty: the model detects it. */
  language: string;
  /** Requested where the model may have it. */
  wantsSpeakers: boolean;
  wantsWords: boolean;
}

/** Transcribes a recording; calls `onPart` with what was heard so far. */
export async function readTranscript(
  request: TranscriptionRequest,
  onPart: (transcript: Transcript) => void,
  signal: AbortSignal,
): Promise<Transcript> {
  const { response, hasSpeakers } = await start(request, signal);
  const segments: Segment[] = [];
  let text = "";
  let hasWordTimes = false;
  const soFar = (): Transcript => ({ text, segments: [...segments], hasWordTimes });
  for await (const event of readEvents<TranscriptEvent>(response)) {
    if (event.error !== undefined) throw new Error(event.error.message);
    if (event.type === "transcript.text.delta") text += event.delta ?? "";
    if (event.type === "transcript.text.done") text = event.text ?? text;
    if (event.type === "transcript.text.segment") {
      const segment = toSegment(event, segments.length, hasSpeakers);
      hasWordTimes ||= (event.words ?? []).length > 0;
      segments.push(segment);
    }
    onPart(soFar());
  }
  return soFar();
}

function toSegment(event: TranscriptEvent, id: number, hasSpeakers: boolean): Segment {
  const { start = 0, end = 0, text = "", speaker, words = [] } = event;
  const timed = words.map((word) => ({ text: word.word.trim(), start: word.start, end: word.end }));
  return {
    id,
    start,
    end,
    text,
    speaker: hasSpeakers ? (speaker ?? null) : null,
    words: timed.length > 0 ? timed : estimateWords({ text, start, end }),
  };
}

/** A model that is not loaded has not said what it can do: the next attempt omits what it refuses. */
async function start(
  request: TranscriptionRequest,
  signal: AbortSignal,
): Promise<{ response: Response; hasSpeakers: boolean }> {
  let accepted = request;
  for (;;) {
    try {
      const body = toForm(accepted);
      const response = await send("v1/audio/transcriptions", { method: "POST", body, signal });
      return { response, hasSpeakers: accepted.wantsSpeakers };
    } catch (failure) {
      accepted = withoutRefused(accepted, failure);
    }
  }
}

function toForm({ model, recording, language, wantsSpeakers, wantsWords }: TranscriptionRequest): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("stream", "true");
  if (wantsSpeakers) form.set("response_format", "diarized_json");
  if (wantsWords) form.append("timestamp_granularities[]", "word");
  if (language !== "") form.set("language", language);
  form.set("file", recording, recording.name);
  return form;
}

/** Throws the failure when it refuses something else. */
function withoutRefused(request: TranscriptionRequest, failure: unknown): TranscriptionRequest {
  if (!(failure instanceof ApiError) || failure.status !== 400) throw failure;
  const { param } = failure;
  if (request.wantsWords && param === "timestamp_granularities") return { ...request, wantsWords: false };
  if (request.wantsSpeakers && param === "response_format") return { ...request, wantsSpeakers: false };
  throw failure;
}
