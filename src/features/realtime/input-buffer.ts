/** Audio that a client has sent and that is not committed: with turn detection the current turn, else all of it. */

import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { invalidRequest } from "../../kernel/faults.ts";
import type { RealtimeAudioFormat } from "../../wire/realtime/session-settings.ts";
import { AudioInput } from "./audio-input.ts";
import type { TurnDetector, TurnEvent } from "./turn-detector.ts";

/** Audio without turn detection that a client may send before it commits. */
const MAX_SECONDS = 600;
/** Shorter audio cannot hold a word. */
const MIN_SECONDS = 0.1;

export class InputBuffer {
  #input: AudioInput;
  #detector: TurnDetector | undefined;
  #pieces: Float32Array[] = [];
  /** Samples in `#pieces`. */
  #count = 0;
  /** Samples of the session so far. */
  #position = 0;

  constructor(format: RealtimeAudioFormat) {
    this.#input = new AudioInput(format);
  }

  get isSpeaking(): boolean {
    return this.#detector?.isSpeaking === true;
  }

  /** Replaces the detection of turns; undefined turns it off. The audio so far stays. */
  async *detectWith(open: ((position: number) => Promise<TurnDetector>) | undefined): AsyncGenerator<TurnEvent> {
    const before = this.#take();
    this.#detector?.close();
    this.#detector = undefined;
    const detector = await open?.(this.#position - before.length);
    this.#detector = detector;
    this.#position -= before.length;
    yield* this.#accept(before);
  }

  get detectsTurns(): boolean {
    return this.#detector !== undefined;
  }

  /** Yields the turns that the audio begins and ends. Throws a Fault when the buffer is full. */
  async *append(bytes: Buffer, format: RealtimeAudioFormat): AsyncGenerator<TurnEvent> {
    if (format.type !== this.#input.format.type) {
      yield* this.#accept(await this.#input.end());
      this.#input = new AudioInput(format);
    }
    if (this.#detector === undefined && this.#count > MAX_SECONDS * SAMPLE_RATE) {
      const message = `The input audio buffer holds ${MAX_SECONDS} seconds, the limit. Commit or clear it.`;
      throw invalidRequest(message, "audio", "input_audio_buffer_full");
    }
    yield* this.#accept(await this.#input.decode(bytes));
  }

  /** Removes and returns the audio. Throws a Fault when there is too little, which stays. */
  async commit(): Promise<Float32Array> {
    const samples = (this.#detector?.kept ?? this.#count) + this.#input.heldSamples;
    // Checked first: another resampler takes 20 ms to start.
    if (samples < MIN_SECONDS * SAMPLE_RATE) throw tooShort(samples);
    const { format } = this.#input;
    const rest = await this.#input.end();
    this.#input = new AudioInput(format);
    this.#position += rest.length;
    return concatenateSamples([this.#take(), rest]);
  }

  clear(): void {
    this.#take();
  }

  close(): void {
    this.#input.close();
    this.#detector?.close();
  }

  async *#accept(samples: Float32Array): AsyncGenerator<TurnEvent> {
    this.#position += samples.length;
    if (this.#detector !== undefined) return yield* this.#detector.accept(samples);
    if (samples.length === 0) return;
    this.#pieces.push(samples);
    this.#count += samples.length;
  }

  #take(): Float32Array {
    if (this.#detector !== undefined) return this.#detector.take();
    const all = concatenateSamples(this.#pieces);
    this.#pieces = [];
    this.#count = 0;
    return all;
  }
}

function tooShort(samples: number) {
  const ms = Math.round((samples / SAMPLE_RATE) * 1000);
  const message = `The input audio buffer has ${ms} ms of audio; at least ${MIN_SECONDS * 1000} ms are needed.`;
  return invalidRequest(message, undefined, "input_audio_buffer_commit_empty");
}
