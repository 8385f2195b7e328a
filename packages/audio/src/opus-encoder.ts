/** Adapts libopus, compiled to WebAssembly, to mediabunny's encoder interface. */

import { Encoder } from "@evan/opus/wasm/index.mjs";
import { type AudioCodec, type AudioSample, CustomAudioEncoder, EncodedPacket } from "mediabunny";

export const OPUS_SAMPLE_RATE = 24_000;
const FRAME_SECONDS = 0.02;
const FRAME_SAMPLES = OPUS_SAMPLE_RATE * FRAME_SECONDS;
/** Ogg Opus counts granule positions at 48 kHz whatever the input rate (RFC 7845, section 4). */
const GRANULE_RATE = 48_000;

export class OpusEncoder extends CustomAudioEncoder {
  readonly #encoder = new Encoder({ channels: 1, sample_rate: OPUS_SAMPLE_RATE, application: "audio" });
  #pending = new Int16Array(0);
  #nextSeconds = 0;
  #hasBegun = false;

  static override supports(codec: AudioCodec, config: AudioEncoderConfig): boolean {
    return codec === "opus" && config.sampleRate === OPUS_SAMPLE_RATE && config.numberOfChannels === 1;
  }

  override init(): void {
    this.#encoder.bitrate = this.config.bitrate ?? "auto";
  }

  override encode(sample: AudioSample): void {
    const pendingLength = this.#pending.length;
    const samples = new Int16Array(pendingLength + sample.numberOfFrames);
    samples.set(this.#pending);
    sample.copyTo(samples.subarray(pendingLength), { format: "s16", planeIndex: 0 });
    const complete = samples.length - (samples.length % FRAME_SAMPLES);
    for (let start = 0; start < complete; start += FRAME_SAMPLES) {
      this.#encodeFrame(samples.subarray(start, start + FRAME_SAMPLES));
    }
    this.#pending = samples.slice(complete);
  }

  /** Pads the last frame with silence and encodes one more frame to flush the encoder's lookahead. */
  override flush(): void {
    const rest = new Int16Array(FRAME_SAMPLES);
    rest.set(this.#pending);
    if (this.#pending.length > 0) this.#encodeFrame(rest);
    this.#pending = new Int16Array(0);
    this.#encodeFrame(new Int16Array(FRAME_SAMPLES));
  }

  override close(): void {}

  #encodeFrame(samples: Int16Array): void {
    // The encoder returns a view of its memory, which the next frame overwrites.
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

/** Builds the `OpusHead` packet (RFC 7845, section 5.1). */
function identificationHeader(preSkip: number): Uint8Array {
  const header = Buffer.alloc(19);
  header.write("OpusHead", 0, "latin1");
  header.writeUInt8(1, 8);
  header.writeUInt8(1, 9);
  header.writeUInt16LE(preSkip, 10);
  header.writeUInt32LE(OPUS_SAMPLE_RATE, 12);
  return header;
}
