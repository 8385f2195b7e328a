/** Decodes the audio that a client sends to samples at the rate that models take. */

import { fromPcm16 } from "@parlance-inference/audio/encode-pcm";
import { decodeG711 } from "@parlance-inference/audio/g711";
import { Resampler } from "@parlance-inference/audio/resample";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import type { RealtimeAudioFormat } from "../wire/realtime/session-settings.ts";

export const PCM_RATE = 24_000;
export const G711_RATE = 8000;

export class AudioInput {
  readonly format: RealtimeAudioFormat;
  readonly #resampler = new Resampler(SAMPLE_RATE);
  /** First byte of a sample whose second byte has not arrived. */
  #odd = Buffer.alloc(0);

  constructor(format: RealtimeAudioFormat) {
    this.format = format;
  }

  /** Returns samples at 16 kHz; those of the last few milliseconds follow with the next piece. */
  async decode(bytes: Buffer): Promise<Float32Array> {
    if (this.format.type !== "audio/pcm") {
      const law = this.format.type === "audio/pcmu" ? "mu" : "a";
      return this.#resampler.resample(decodeG711(bytes, law), G711_RATE);
    }
    const all = this.#odd.length === 0 ? bytes : Buffer.concat([this.#odd, bytes]);
    this.#odd = Buffer.from(all.subarray(all.length - (all.length % 2)));
    return this.#resampler.resample(fromPcm16(all), PCM_RATE);
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
}
