/** A transcription model that reads the entire recording, and those of known speakers, and then emits a configured reply sentence by sentence. */

import type { ModelHealth } from "../../contracts/open-model.ts";
import type {
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
  TranscriptWord,
} from "../../contracts/transcription-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { matches, pause, toFailure } from "./scripted-reply.ts";
import type { ScriptedReply, ScriptedSettings } from "./settings.ts";

const SAMPLE_RATE = 16_000;

export class ScriptedTranscription implements TranscriptionModel {
  readonly task = "transcription";
  readonly device = "cpu";
  readonly languages = ["en", "de"];
  readonly abilities = { translation: true, prompt: true, temperature: true, wordTimes: true, diarization: true };
  readonly slots: number;
  readonly #replies: readonly ScriptedReply[];

  constructor({ slots, replies }: Pick<ScriptedSettings, "slots" | "replies">) {
    this.slots = slots;
    this.#replies = replies;
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  /** Finds the reply whose `match` is in the prompt; its delays and failures count sentences. */
  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    const reply = this.#replies.find(({ match }) => matches(match, request.prompt ?? ""));
    if (reply === undefined) throw invalidRequest("No configured reply matches this prompt.", "prompt");
    await request.speakers?.readVoices?.(signal);
    const samples = await countSamples(request.samples, signal);
    if (samples === undefined) return;
    const audioSeconds = samples / SAMPLE_RATE;
    const sentences = (reply.text ?? request.prompt ?? "").split(/(?<=[.?!])\s+/).filter((each) => each !== "");
    await pause(reply.delayMsBeforeFirst, signal);
    for (const [index, text] of sentences.entries()) {
      if (signal.aborted) return;
      if (index === reply.failAfterTokens) throw toFailure(reply.failWith);
      const startSeconds = (audioSeconds * index) / sentences.length;
      const endSeconds = (audioSeconds * (index + 1)) / sentences.length;
      const words = request.wordTimes ? shareOut(text, startSeconds, endSeconds) : undefined;
      const speaker = request.speakers && speakerOf(index, request.speakers.names);
      yield { type: "segment", startSeconds, endSeconds, text, words, speaker, confidence: undefined };
      await pause(reply.delayMsPerToken, signal);
    }
    if (sentences.length === reply.failAfterTokens) throw toFailure(reply.failWith);
    if (!signal.aborted) yield { type: "finish", audioSeconds, language: request.translate ? "de" : request.language };
  }
}

/** Two speakers take turns. */
function speakerOf(index: number, names: readonly string[]): string {
  return names[index % 2] ?? "AB"[index % 2] ?? "A";
}

function shareOut(text: string, startSeconds: number, endSeconds: number): TranscriptWord[] {
  const words = text.split(/\s+/);
  const each = (endSeconds - startSeconds) / words.length;
  return words.map((word, index) => ({
    word,
    startSeconds: startSeconds + each * index,
    endSeconds: startSeconds + each * (index + 1),
  }));
}

/** Undefined once the signal aborts. */
async function countSamples(samples: AsyncIterable<Float32Array>, signal: AbortSignal): Promise<number | undefined> {
  let count = 0;
  for await (const { length } of samples) {
    count += length;
    if (signal.aborted) return undefined;
  }
  return count;
}
