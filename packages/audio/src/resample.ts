import libsamplerate from "@alexanderolsen/libsamplerate-js";
import { concatenateSamples } from "./concatenate-samples.ts";

const { ConverterType, create } = libsamplerate;

type Converter = Awaited<ReturnType<typeof create>>;

/** Converts a stream of mono samples to one rate. The input's rate may change between pieces. */
export class Resampler {
  readonly #rate: number;
  #converter: Converter | undefined;
  #inputRate = 0;
  #consumed = 0;
  #produced = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** Converts a piece. Returns fewer samples than the ratio suggests while the filter fills. */
  async resample(samples: Float32Array, rate: number): Promise<Float32Array> {
    if (rate === this.#rate && this.#converter === undefined) return samples;
    if (rate === this.#inputRate) return this.#feed(samples);
    const rest = await this.finish();
    await this.#begin(rate);
    const converted = this.#feed(samples);
    return rest.length === 0 ? converted : concatenateSamples([rest, converted]);
  }

  /** Samples that the filter still holds. */
  get heldSamples(): number {
    if (this.#converter === undefined) return 0;
    return Math.max(0, Math.round((this.#consumed * this.#rate) / this.#inputRate) - this.#produced);
  }

  /** Returns the samples that the filter still holds. */
  async finish(): Promise<Float32Array> {
    if (this.#converter === undefined) return new Float32Array(0);
    const silence = new Float32Array(Math.ceil(this.#inputRate / 5));
    return this.#convert(silence).subarray(0, this.heldSamples);
  }

  /** Frees the converter's memory. */
  close(): void {
    this.#converter?.destroy();
    this.#converter = undefined;
  }

  async #begin(rate: number): Promise<void> {
    this.#converter?.destroy();
    // Only the ratio matters, and the library limits rates to 192 kHz.
    const scale = Math.max(1, rate / MAX_LIBRARY_RATE);
    const converterType = ConverterType.SRC_SINC_FASTEST;
    this.#converter = await create(1, rate / scale, this.#rate / scale, { converterType });
    this.#inputRate = rate;
    this.#consumed = 0;
    this.#produced = 0;
  }

  #feed(samples: Float32Array): Float32Array {
    this.#consumed += samples.length;
    const converted = this.#convert(samples);
    this.#produced += converted.length;
    return converted;
  }

  #convert(samples: Float32Array): Float32Array {
    const pieces: Float32Array[] = [];
    // The library's buffers limit the samples of one call.
    const step = Math.max(1, Math.floor(MAX_SAMPLES_AT_ONCE * Math.min(1, this.#inputRate / this.#rate)));
    for (let start = 0; start < samples.length; start += step) {
      const converted = this.#converter?.full(samples.subarray(start, start + step));
      if (converted !== undefined) pieces.push(converted.slice());
    }
    return concatenateSamples(pieces);
  }
}

const MAX_LIBRARY_RATE = 192_000;
const MAX_SAMPLES_AT_ONCE = 100_000;
