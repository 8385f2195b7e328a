/** libopus, compiled to WebAssembly, as one of mediabunny's encoders. */

import { Encoder } from "@evan/opus/wasm/index.mjs";
import { type AudioCodec, type AudioSample, CustomAudioEncoder, EncodedPacket } from "mediabunny";

export const OPUS_SAMPLE_RATE = 24_000;
const FRAME_SECONDS = 0.02;
const FRAME_SAMPLES = OPUS_SAMPLE_RATE * FRAME_SECONDS;
/** Granule positions of Ogg Opus count at 48 kHz, whatever was encoded. */
const GRANULE_RATE = 48_000;

export class OpusEncoder extends CustomAudioEncoder {
  readonly #encoder = new Encoder({ channels: 1, sample_rate: OPUS_SAMPLE_RATE, application: "audio" });
  #waiting = new Int16Array(0);
  #nextSeconds = 0;
  #hasBegun = false;

  static override supports(codec: AudioCodec, config: AudioEncoderConfig): boolean {
    return codec === "opus" && config.sampleRate === OPUS_SAMPLE_RATE && config.numberOfChannels === 1;
  }

  override init(): void {
    this.#encoder.bitrate = this.config.bitrate ?? "auto";
  }

  override encode(sample: AudioSample): void {
    const waited = this.#waiting.length;
    const samples = new Int16Array(waited + sample.numberOfFrames);
    samples.set(this.#waiting);
    sample.copyTo(samples.subarray(waited), { format: "s16", planeIndex: 0 });
    const whole = samples.length - (samples.length % FRAME_SAMPLES);
    for (let start = 0; start < whole; start += FRAME_SAMPLES) {
      this.#encodeFrame(samples.subarray(start, start + FRAME_SAMPLES));
    }
    this.#waiting = samples.slice(whole);
  }

  /** A last frame that is not full is filled with silence, and what the encoder looks ahead is pushed out after it. */
  override flush(): void {
    const rest = new Int16Array(FRAME_SAMPLES);
    rest.set(this.#waiting);
    if (this.#waiting.length > 0) this.#encodeFrame(rest);
    this.#waiting = new Int16Array(0);
    this.#encodeFrame(new Int16Array(FRAME_SAMPLES));
  }

  override close(): void {}

  #encodeFrame(samples: Int16Array): void {
    // The encoder lends its own memory, which the next frame overwrites.
    const bytes = this.#encoder.encode(samples).slice();
    const packet = new EncodedPacket(bytes, "key", this.#nextSeconds, FRAME_SECONDS);
    this.#nextSeconds += FRAME_SECONDS;
    this.onPacket(packet, this.#hasBegun ? undefined : { decoderConfig: this.#decoderConfig() });
    this.#hasBegun = true;
  }

  #decoderConfig(): AudioDecoderConfig {
    const preSkip = Math.round((this.#encoder.lookhead * GRANULE_RATE) / OPUS_SAMPLE_RATE);
    return {
      codec: "opus",
      sampleRate: GRANULE_RATE,
      numberOfChannels: 1,
      description: identificationHeader(preSkip),
    };
  }
}

/** RFC 7845, section 5.1. */
function identificationHeader(preSkip: number): Uint8Array {
  const header = Buffer.alloc(19);
  header.write("OpusHead", 0, "latin1");
  header.writeUInt8(1, 8);
  header.writeUInt8(1, 9);
  header.writeUInt16LE(preSkip, 10);
  header.writeUInt32LE(OPUS_SAMPLE_RATE, 12);
  return header;
}
