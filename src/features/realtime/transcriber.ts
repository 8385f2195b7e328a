/** Transcribes the audio of conversation items, one after the other. */

import { toWav, wavBytes } from "@parlance-inference/audio/encode-pcm";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import type { TranscriptionEvent } from "../../contracts/transcription-model.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { ItemContent, MessageItem } from "../../wire/realtime/conversation-items.ts";
import { type SessionContext, untilAborted } from "./session-context.ts";

/** Transcriptions that wait; further audio is not read until one of them is done. */
const MAX_WAITING = 4;

export interface TranscribedAudio {
  item: MessageItem;
  contentIndex: number;
  /** Returns the samples at 16 kHz, once it is the turn of this audio. */
  read: () => Promise<Float32Array>;
}

export class Transcriber {
  readonly #context: SessionContext;
  /** Transcriptions with the IDs of their items, the waiting ones included. */
  readonly #running = new Map<Promise<void>, string>();
  #last: Promise<void> = Promise.resolve();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Transcribes audio after what was given before it. The promise resolves also when the transcription fails. */
  transcribe(audio: TranscribedAudio): Promise<void> {
    const done = this.#last.then(() => this.#run(audio));
    this.#last = done;
    this.#running.set(done, audio.item.id);
    void done.then(() => this.#running.delete(done));
    return done;
  }

  /** Resolves once few enough transcriptions wait that the session can take more audio. */
  async ready(): Promise<void> {
    while (this.#running.size > MAX_WAITING) await Promise.race(this.#running.keys());
  }

  /** Resolves once nothing waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
  }

  /** Resolves once the items have their transcripts. */
  async settled(itemIds: readonly string[]): Promise<void> {
    const ids = new Set(itemIds);
    await Promise.all([...this.#running].map(([done, id]) => (ids.has(id) ? done : undefined)));
  }

  async #run({ item, contentIndex, read }: TranscribedAudio): Promise<void> {
    const { signal, send, toError, settings } = this.#context;
    if (signal.aborted) return;
    // Chats need the transcript also where the client does not want to see it.
    const isShown = settings().transcription !== null;
    const of = { item_id: item.id, content_index: contentIndex };
    const type = "conversation.item.input_audio_transcription";
    try {
      const onDelta = (delta: string) => {
        if (isShown) send({ type: `${type}.delta`, ...of, delta });
      };
      const samples = await read();
      const { transcript, seconds } = await untilAborted(signal, (onDisconnect) =>
        this.#transcribe(samples, onDelta, onDisconnect),
      );
      item.content[contentIndex] = { type: "input_audio", transcript } satisfies ItemContent;
      if (!isShown) return;
      const usage = { type: "duration", seconds: Number(seconds.toFixed(3)) };
      send({ type: `${type}.completed`, ...of, transcript, usage });
    } catch (failure) {
      if (!signal.aborted) send({ type: `${type}.failed`, ...of, error: toError(failure) });
    }
  }

  async #transcribe(
    samples: Float32Array,
    onDelta: (text: string) => void,
    onDisconnect: OnDisconnect,
  ): Promise<{ transcript: string; seconds: number }> {
    const { services, settings, callerHeaders, authenticate } = this.#context;
    const { inference } = services;
    const caller = await authenticate();
    const { transcription } = settings();
    const answer = await inference.transcribe(
      caller,
      {
        model: transcription?.model ?? services.transcriptionModel ?? inference.models.first(caller, "transcription"),
        samples: { [Symbol.asyncIterator]: () => pieces(samples) },
        file: {
          name: "audio.wav",
          bytes: wavBytes(samples.length),
          open: async () => new Blob([toWav(samples, SAMPLE_RATE) as Uint8Array<ArrayBuffer>], { type: "audio/wav" }),
        },
        translate: false,
        language: transcription?.language,
        prompt: transcription?.prompt,
        temperature: 0,
        wordTimes: false,
        stream: true,
        callerHeaders,
      },
      onDisconnect,
    );
    const text = new TranscriptText();
    for await (const event of answer.events) {
      const delta = text.add(event);
      if (delta !== "") onDelta(delta);
    }
    return { transcript: text.value.trim(), seconds: samples.length / SAMPLE_RATE };
  }
}

/** Joins the deltas and segments of a transcript. */
class TranscriptText {
  value = "";

  /** Returns the text that the event adds. */
  add(event: TranscriptionEvent): string {
    if (event.type === "finish" || (event.type === "segment" && event.isStreamed === true)) return "";
    const isSegment = event.type === "segment" && this.value !== "" && event.text !== "";
    const delta = `${isSegment ? " " : ""}${event.text}`;
    this.value += delta;
    return delta;
  }
}

/** Samples of one piece: small enough that a hosted engine begins before it has all of them. */
const PIECE_SAMPLES = SAMPLE_RATE;

async function* pieces(samples: Float32Array): AsyncGenerator<Float32Array> {
  for (let start = 0; start < samples.length; start += PIECE_SAMPLES) {
    yield samples.subarray(start, start + PIECE_SAMPLES);
  }
}
