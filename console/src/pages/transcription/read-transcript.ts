import { send } from "../../api/request.ts";
import { readEvents } from "../../components/read-events.ts";
import type { Segment, Transcript } from "./transcript.ts";

interface TranscriptEvent {
  type: string;
  delta?: string;
  text?: string;
  start?: number;
  end?: number;
  error?: { message: string };
}

/** Transcribes a recording; calls `onPart` with what was heard so far. */
export async function readTranscript(
  model: string,
  recording: File,
  onPart: (transcript: Transcript) => void,
): Promise<Transcript> {
  const form = new FormData();
  form.set("model", model);
  form.set("stream", "true");
  form.set("file", recording, recording.name);
  const response = await send("v1/audio/transcriptions", { method: "POST", body: form });
  const segments: Segment[] = [];
  let text = "";
  for await (const event of readEvents<TranscriptEvent>(response)) {
    if (event.error !== undefined) throw new Error(event.error.message);
    if (event.type === "transcript.text.delta") text += event.delta ?? "";
    if (event.type === "transcript.text.done") text = event.text ?? text;
    if (event.type === "transcript.text.segment") {
      segments.push({
        id: segments.length,
        start: event.start ?? 0,
        end: event.end ?? 0,
        text: event.text ?? "",
      });
    }
    onPart({ text, segments: [...segments] });
  }
  return { text, segments };
}
