/** Mel filter bank on Slaney's scale with area normalization, as `librosa.filters.mel` makes it. */

export const FRAME_SAMPLES = 400;
export const HOP_SAMPLES = 160;
const SAMPLE_RATE = 16_000;
export const FFT_BINS = FRAME_SAMPLES / 2 + 1;

/** Weights [count, 201], by mel band and FFT bin. */
export function melFilterbank(count: number): Float32Array {
  const edges = Array.from({ length: count + 2 }, (_, index) =>
    toHertz((index * toMel(SAMPLE_RATE / 2)) / (count + 1)),
  );
  const filters = new Float32Array(count * FFT_BINS);
  for (let row = 0; row < count; row += 1) {
    const [low = 0, middle = 0, high = 0] = edges.slice(row, row + 3);
    for (let bin = 0; bin < FFT_BINS; bin += 1) {
      const hertz = (bin * SAMPLE_RATE) / FRAME_SAMPLES;
      const height = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      filters[row * FFT_BINS + bin] = Math.max(0, height) * (2 / (high - low));
    }
  }
  return filters;
}

/** Hann-windowed cosines and sines: a convolution with them is the Fourier transform of each frame. */
export function dftKernel(): Float32Array {
  const kernel = new Float32Array(2 * FFT_BINS * FRAME_SAMPLES);
  for (let bin = 0; bin < FFT_BINS; bin += 1) {
    for (let index = 0; index < FRAME_SAMPLES; index += 1) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FRAME_SAMPLES);
      const angle = (2 * Math.PI * ((bin * index) % FRAME_SAMPLES)) / FRAME_SAMPLES;
      kernel[bin * FRAME_SAMPLES + index] = window * Math.cos(angle);
      kernel[(FFT_BINS + bin) * FRAME_SAMPLES + index] = -window * Math.sin(angle);
    }
  }
  return kernel;
}

/** Slaney's scale is linear below 1 kHz and logarithmic above. */
const LINEAR_HERTZ = 200 / 3;
const KNEE_HERTZ = 1000;
const KNEE_MEL = KNEE_HERTZ / LINEAR_HERTZ;
const LOG_STEP = Math.log(6.4) / 27;

function toMel(hertz: number): number {
  return hertz < KNEE_HERTZ ? hertz / LINEAR_HERTZ : KNEE_MEL + Math.log(hertz / KNEE_HERTZ) / LOG_STEP;
}

function toHertz(mel: number): number {
  return mel < KNEE_MEL ? mel * LINEAR_HERTZ : KNEE_HERTZ * Math.exp(LOG_STEP * (mel - KNEE_MEL));
}
