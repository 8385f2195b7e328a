/** Transcribes the audio of conversation items, one after the other. */

import { toWav, wavBytes } from "@parlance-inference/audio/encode-pcm";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import type { TranscriptionEvent } from "../engines/engine.ts";
import type { ItemContent, MessageItem } from "../wire/realtime/conversation-items.ts";
import { onAbort, type SessionContext } from "./session-context.ts";

/** Transcriptions that wait; further audio is not read until one of them is done. */
const MAX_WAITING = 4;

export interface TranscribedAudio {
  item: MessageItem;
  contentIndex: number;
  /** At 16 kHz. */
  samples: Float32Array | Promise<Float32Array>;
}

export class Transcriber {
  readonly #context: SessionContext;
  /** Transcriptions by the ID of their item. */
  readonly #running = new Map<string, Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Transcribes audio after what was given before it. The promise resolves also when the transcription fails. */
  transcribe(audio: TranscribedAudio): Promise<void> {
    const { id } = audio.item;
    const done = this.#last.then(() => this.#run(audio));
    this.#last = done;
    this.#running.set(id, done);
    void done.then(() => {
      if (this.#running.get(id) === done) this.#running.delete(id);
    });
    return done;
  }

  /** Resolves once few enough transcriptions wait that the session can take more audio. */
  async ready(): Promise<void> {
    while (this.#running.size > MAX_WAITING) await Promise.race(this.#running.values());
  }

  /** Resolves once the items have their transcripts. */
  async settled(itemIds: readonly string[]): Promise<void> {
    await Promise.all(itemIds.map((id) => this.#running.get(id)));
  }

  async #run({ item, contentIndex, samples }: TranscribedAudio): Promise<void> {
    const { signal, send, toError, settings } = this.#context;
    if (signal.aborted) return;
    // Chats need the transcript also where the client does not want to see it.
    const isShown = settings().transcription !== null;
    const of = { item_id: item.id, content_index: contentIndex };
    const type = "conversation.item.input_audio_transcription";
    try {
      const { transcript, seconds } = await this.#read(await samples, (delta) => {
        if (isShown) send({ type: `${type}.delta`, ...of, delta });
      });
      item.content[contentIndex] = { type: "input_audio", transcript } satisfies ItemContent;
      if (!isShown) return;
      const usage = { type: "duration", seconds: Number(seconds.toFixed(3)) };
      send({ type: `${type}.completed`, ...of, transcript, usage });
    } catch (failure) {
      if (!signal.aborted) send({ type: `${type}.failed`, ...of, error: toError(failure) });
    }
  }

  async #read(
    samples: Float32Array,
    onDelta: (text: string) => void,
  ): Promise<{ transcript: string; seconds: number }> {
    const { services, settings, callerHeaders, signal, authenticate } = this.#context;
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
      onAbort(signal),
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
