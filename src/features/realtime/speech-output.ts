/** Speaks the text of an answer while it is written. */

import { toPcm16 } from "@parlance-inference/audio/encode-pcm";
import { encodeG711 } from "@parlance-inference/audio/g711";
import { Resampler } from "@parlance-inference/audio/resample";
import { AsyncQueue } from "../../kernel/async/async-queue.ts";
import type { RealtimeAudioFormat } from "../../wire/realtime/session-settings.ts";
import { G711_RATE, PCM_RATE } from "./audio-input.ts";
import { type SessionContext, untilAborted } from "./session-context.ts";
import { SentenceSplitter, type SpokenText } from "./spoken-text.ts";

export interface SpeechOutputOptions {
  context: SessionContext;
  voice: string;
  signal: AbortSignal;
  /** Called with each piece of audio, in the session's output format and base64. */
  onAudio: (audio: string) => void;
}

/** Audio of one message: a player can begin with it, and stops soon after an interruption. */
const PIECE_SECONDS = 0.25;

export class SpeechOutput {
  readonly #options: SpeechOutputOptions;
  readonly #format: RealtimeAudioFormat;
  readonly #rate: number;
  readonly #splitter = new SentenceSplitter();
  readonly #sentences = new AsyncQueue<string>();
  readonly #speaking: Promise<void>;
  readonly #spoken: SpokenText[] = [];
  #samples = 0;

  constructor(options: SpeechOutputOptions) {
    this.#options = options;
    this.#format = options.context.settings().outputFormat;
    this.#rate = this.#format.type === "audio/pcm" ? PCM_RATE : G711_RATE;
    this.#speaking = this.#speakAll();
    // `end` reports the failure.
    this.#speaking.catch(() => {});
  }

  /** The texts that have been spoken, with their times. */
  get spoken(): readonly SpokenText[] {
    return this.#spoken;
  }

  push(text: string): void {
    for (const sentence of this.#splitter.push(text)) this.#sentences.push(sentence);
  }

  /** Resolves once all text has been spoken. Throws the failure of the speech model. */
  async end(): Promise<void> {
    for (const sentence of this.#splitter.end()) this.#sentences.push(sentence);
    this.#sentences.end();
    await this.#speaking;
  }

  async #speakAll(): Promise<void> {
    for await (const sentence of this.#sentences.read()) {
      if (this.#options.signal.aborted) return;
      const startMs = this.#ms();
      const spoken = { text: sentence, startMs, endMs: startMs };
      this.#spoken.push(spoken);
      if (/[\p{Letter}\p{Number}]/u.test(sentence)) await this.#speak(spoken);
    }
  }

  async #speak(spoken: SpokenText): Promise<void> {
    const { context, voice, signal } = this.#options;
    const { services, callerHeaders } = context;
    const { inference } = services;
    const { speechModel, speed } = context.settings();
    const caller = await context.authenticate();
    const model = speechModel ?? services.speechModel ?? inference.models.first(caller, "speech");
    const request = { model, text: spoken.text, voice, speed, instructions: undefined, callerHeaders };
    await untilAborted(signal, async (onDisconnect) => {
      const answer = await inference.speak(caller, request, onDisconnect);
      const resampler = new Resampler(this.#rate);
      try {
        for await (const samples of answer.events) {
          if (!(samples instanceof Float32Array)) continue;
          await this.#emit(await resampler.resample(samples, answer.sampleRate));
          spoken.endMs = this.#ms();
        }
        await this.#emit(await resampler.finish());
      } finally {
        resampler.close();
        spoken.endMs = this.#ms();
      }
    });
  }

  async #emit(samples: Float32Array): Promise<void> {
    const { context, signal, onAudio } = this.#options;
    const step = PIECE_SECONDS * this.#rate;
    for (let start = 0; start < samples.length; start += step) {
      if (signal.aborted) return;
      const piece = samples.subarray(start, start + step);
      this.#samples += piece.length;
      onAudio(Buffer.from(encode(piece, this.#format)).toString("base64"));
      await context.flushed();
    }
  }

  #ms(): number {
    return Math.round((this.#samples / this.#rate) * 1000);
  }
}

function encode(samples: Float32Array, { type }: RealtimeAudioFormat): Uint8Array {
  if (type === "audio/pcm") return toPcm16(samples);
  return encodeG711(samples, type === "audio/pcmu" ? "mu" : "a");
}
