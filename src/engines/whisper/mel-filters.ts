/** The triangles that a spectrum is weighed with, spaced as hearing is: Slaney's scale, each of the same area. */

export const FRAME = 400;
export const HOP = 160;
const SAMPLE_RATE = 16_000;
export const BINS = FRAME / 2 + 1;

/** `count` rows of 201 weights. */
export function melFilters(count: number): Float32Array {
  const edges = Array.from({ length: count + 2 }, (_, index) =>
    toHertz((index * toMel(SAMPLE_RATE / 2)) / (count + 1)),
  );
  const filters = new Float32Array(count * BINS);
  for (let row = 0; row < count; row += 1) {
    const [low = 0, middle = 0, high = 0] = edges.slice(row, row + 3);
    for (let bin = 0; bin < BINS; bin += 1) {
      const hertz = (bin * SAMPLE_RATE) / FRAME;
      const height = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      filters[row * BINS + bin] = Math.max(0, height) * (2 / (high - low));
    }
  }
  return filters;
}

/** Sines and cosines under a Hann window, so that a convolution with them is the Fourier transform of each frame. */
export function fourierKernel(): Float32Array {
  const kernel = new Float32Array(2 * BINS * FRAME);
  for (let bin = 0; bin < BINS; bin += 1) {
    for (let index = 0; index < FRAME; index += 1) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FRAME);
      const angle = (2 * Math.PI * ((bin * index) % FRAME)) / FRAME;
      kernel[bin * FRAME + index] = window * Math.cos(angle);
      kernel[(BINS + bin) * FRAME + index] = -window * Math.sin(angle);
    }
  }
  return kernel;
}

/** Linear below 1 kHz, logarithmic above. */
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
