/** Finds the turns of a speaker in audio as it arrives. */

import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import { SAMPLE_RATE, WINDOW_SAMPLES } from "@parlance-inference/speech-segmentation/audio-format";
import { SampleBuffer } from "@parlance-inference/speech-segmentation/sample-buffer";
import { SpeechDetector } from "@parlance-inference/speech-segmentation/speech-detector";
import type { HostedVadStream } from "@parlance-inference/speech-segmentation/vad-process";
import type { TurnDetection } from "../../wire/realtime/turn-detection.ts";

/** Speech that confirms the start of a turn; a click is shorter. */
const MIN_SPEECH_SECONDS = 0.1;
/** A turn without a pause ends here, so that its audio stays bounded. */
const MAX_TURN_SECONDS = 300;
/** Silence before speech that is kept, at least the longest prefix padding. */
const KEPT_SAMPLES = 3 * SAMPLE_RATE;

/** Milliseconds count the audio of the session. */
export type TurnEvent = { type: "started"; atMs: number } | { type: "stopped"; atMs: number; samples: Float32Array };

export class TurnDetector {
  readonly #vad: HostedVadStream;
  readonly #options: TurnDetection;
  #detector = new SpeechDetector();
  #buffer = new SampleBuffer(KEPT_SAMPLES);
  /** Samples of the session before the buffer's first. */
  #offset: number;
  /** Samples that do not fill a window yet. */
  #rest = new Float32Array(0);
  /** Position of the turn in progress in the buffer, padding included. */
  #turnStart: number | undefined;

  /** `position` is the number of samples that the session has had. */
  constructor(vad: HostedVadStream, options: TurnDetection, position: number) {
    this.#vad = vad;
    this.#options = options;
    this.#offset = position;
  }

  get isSpeaking(): boolean {
    return this.#turnStart !== undefined;
  }

  /** Samples that `take` returns. */
  get kept(): number {
    return this.#buffer.end - this.#from() + this.#rest.length;
  }

  async *accept(samples: Float32Array): AsyncGenerator<TurnEvent> {
    const all = concatenateSamples([this.#rest, samples]);
    let next = 0;
    for (; next + WINDOW_SAMPLES <= all.length; next += WINDOW_SAMPLES) {
      yield* this.#acceptWindow(all.subarray(next, next + WINDOW_SAMPLES));
    }
    this.#rest = all.slice(next);
  }

  /** Removes and returns the samples of the turn in progress, or else all that are kept. */
  take(): Float32Array {
    const samples = concatenateSamples([this.#buffer.slice(this.#from(), this.#buffer.end), this.#rest]);
    this.#reset(this.#offset + this.#buffer.end + this.#rest.length);
    this.#rest = new Float32Array(0);
    return samples;
  }

  close(): void {
    this.#vad.close();
  }

  async *#acceptWindow(window: Float32Array): AsyncGenerator<TurnEvent> {
    const position = this.#buffer.end;
    this.#buffer.append(window);
    const probability = await this.#vad.probability(window);
    const { threshold, prefixPaddingSeconds, silenceSeconds } = this.#options;
    const range = this.#detector.accept(probability, position, this.#buffer.end, {
      threshold,
      minSpeechSeconds: MIN_SPEECH_SECONDS,
      minSilenceSeconds: silenceSeconds,
    });
    const { speechStart } = this.#detector;
    if (this.#turnStart === undefined && speechStart !== undefined) {
      this.#turnStart = Math.max(0, speechStart - Math.round(prefixPaddingSeconds * SAMPLE_RATE));
      yield { type: "started", atMs: this.#toMs(this.#turnStart) };
    }
    if (this.#turnStart === undefined) {
      this.#buffer.discardBefore(this.#from());
      return;
    }
    const isTooLong = this.#buffer.end - this.#turnStart >= MAX_TURN_SECONDS * SAMPLE_RATE;
    if (range === undefined && !isTooLong) return;
    const samples = this.#buffer.slice(this.#turnStart, this.#buffer.end);
    const atMs = this.#toMs(this.#buffer.end);
    this.#reset(this.#offset + this.#buffer.end);
    yield { type: "stopped", atMs, samples };
  }

  #from(): number {
    return this.#turnStart ?? Math.max(0, this.#buffer.end - KEPT_SAMPLES);
  }

  #reset(offset: number): void {
    this.#offset = offset;
    this.#buffer = new SampleBuffer(KEPT_SAMPLES);
    this.#detector = new SpeechDetector();
    this.#turnStart = undefined;
  }

  #toMs(position: number): number {
    return Math.round(((this.#offset + position) / SAMPLE_RATE) * 1000);
  }
}
