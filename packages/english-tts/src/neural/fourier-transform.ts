import load, { type KissFft } from "@echogarden/kissfft-wasm";

const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Fourier transforms of real signals of one size, in buffers that each call reuses. */
export class FourierTransform {
  readonly size: number;
  readonly #library: KissFft;
  readonly #forward: number;
  readonly #inverse: number;
  readonly #signal: number;
  readonly #spectrum: number;

  private constructor(library: KissFft, size: number) {
    this.size = size;
    this.#library = library;
    this.#forward = library._kiss_fftr_alloc(size, 0, 0, 0);
    this.#inverse = library._kiss_fftr_alloc(size, 1, 0, 0);
    this.#signal = library._malloc(size * BYTES);
    this.#spectrum = library._malloc((size + 2) * BYTES);
  }

  /** `size` must be even. */
  static async open(size: number): Promise<FourierTransform> {
    return new FourierTransform(await load(), size);
  }

  get signal(): Float32Array {
    return this.#view(this.#signal, this.size);
  }

  /** `size / 2 + 1` complex numbers: real part, imaginary part, and so on. */
  get spectrum(): Float32Array {
    return this.#view(this.#spectrum, this.size + 2);
  }

  toSpectrum(): void {
    this.#library._kiss_fftr(this.#forward, this.#signal, this.#spectrum);
  }

  /** Leaves the signal `size` times too large. */
  toSignal(): void {
    this.#library._kiss_fftri(this.#inverse, this.#spectrum, this.#signal);
  }

  #view(pointer: number, length: number): Float32Array {
    return this.#library.HEAPF32.subarray(pointer / BYTES, pointer / BYTES + length);
  }
}
