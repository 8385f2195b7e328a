/** Decodes the audio that a client sends to samples at the rate that models take. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import { fromPcm16 } from "@parlance-inference/audio/encode-pcm";
import { decodeG711 } from "@parlance-inference/audio/g711";
import { Resampler } from "@parlance-inference/audio/resample";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import type { RealtimeAudioFormat } from "../../wire/realtime/session-settings.ts";

export const PCM_RATE = 24_000;
export const G711_RATE = 8000;

/** Other requests run between slices: a second of audio takes 6 ms, and one event may have many minutes. */
const SLICE_SECONDS = 1;

export class AudioInput {
  readonly format: RealtimeAudioFormat;
  readonly #resampler = new Resampler(SAMPLE_RATE);
  /** First byte of a sample whose second byte has not arrived. */
  #odd = Buffer.alloc(0);

  constructor(format: RealtimeAudioFormat) {
    this.format = format;
  }

  /** Samples that follow with the next piece. */
  get heldSamples(): number {
    return this.#resampler.heldSamples;
  }

  /** Returns samples at 16 kHz; those of the last few milliseconds follow with the next piece. */
  async decode(bytes: Buffer): Promise<Float32Array> {
    const isPcm = this.format.type === "audio/pcm";
    const all = this.#odd.length === 0 ? bytes : Buffer.concat([this.#odd, bytes]);
    const end = isPcm ? all.length - (all.length % 2) : all.length;
    this.#odd = Buffer.from(all.subarray(end));
    const step = SLICE_SECONDS * (isPcm ? 2 * PCM_RATE : G711_RATE);
    const pieces: Float32Array[] = [];
    for (let start = 0; start < end; start += step) {
      if (start > 0) await nextTurn();
      pieces.push(await this.#resample(all.subarray(start, Math.min(end, start + step))));
    }
    return concatenateSamples(pieces);
  }

  /** Returns the remaining samples. The input cannot be used afterwards. */
  async end(): Promise<Float32Array> {
    const rest = await this.#resampler.finish();
    this.#resampler.close();
    return rest;
  }

  close(): void {
    this.#resampler.close();
  }

  #resample(bytes: Buffer): Promise<Float32Array> {
    const { type } = this.format;
    if (type === "audio/pcm") return this.#resampler.resample(fromPcm16(bytes), PCM_RATE);
    return this.#resampler.resample(decodeG711(bytes, type === "audio/pcmu" ? "mu" : "a"), G711_RATE);
  }
}

/** Decodes a complete recording. */
export async function decodeAudio(bytes: Buffer, format: RealtimeAudioFormat): Promise<Float32Array> {
  const input = new AudioInput(format);
  return concatenateSamples([await input.decode(bytes), await input.end()]);
}
