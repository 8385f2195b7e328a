/** Kaldi's filter bank: log energies of mel bands every 10 ms, as `torchaudio.compliance.kaldi.fbank` computes them. */

export const FRAME_SAMPLES = 400;
export const HOP_SAMPLES = 160;
export const MEL_BANDS = 80;
/** Kaldi's windows are padded to 512 samples; the highest bin has no weight. */
export const FFT_BINS = 256;
const FFT_SAMPLES = 512;
const SAMPLE_RATE = 16_000;
const PRE_EMPHASIS = 0.97;
const LOWEST_HERTZ = 20;

/**
 * Weights [512, 400], cosines before sines: a convolution with them removes the mean of each frame, emphasizes high
 * frequencies, applies Povey's window and transforms, all of which are linear.
 */
export function spectrumKernel(): Float32Array {
  const kernel = new Float32Array(2 * FFT_BINS * FRAME_SAMPLES);
  const window = Float64Array.from(
    { length: FRAME_SAMPLES },
    (_, index) => (0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (FRAME_SAMPLES - 1))) ** 0.85,
  );
  for (let row = 0; row < 2 * FFT_BINS; row += 1) {
    const wave = row < FFT_BINS ? Math.cos : Math.sin;
    const bin = row % FFT_BINS;
    const windowed = window.map(
      (weight, index) => weight * wave((2 * Math.PI * ((bin * index) % FFT_SAMPLES)) / FFT_SAMPLES),
    );
    // The first sample of a frame is its own predecessor.
    const emphasized = windowed.map(
      (value, index) => value - PRE_EMPHASIS * ((windowed[index + 1] ?? 0) + (index === 0 ? value : 0)),
    );
    const mean = emphasized.reduce((sum, value) => sum + value, 0) / FRAME_SAMPLES;
    kernel.set(
      emphasized.map((value) => value - mean),
      row * FRAME_SAMPLES,
    );
  }
  return kernel;
}

/** Weights [80, 256]: triangles of equal width on the mel scale. */
export function melWeights(): Float32Array {
  const lowest = toMel(LOWEST_HERTZ);
  const width = (toMel(SAMPLE_RATE / 2) - lowest) / (MEL_BANDS + 1);
  return Float32Array.from({ length: MEL_BANDS * FFT_BINS }, (_, index) => {
    const center = lowest + (Math.floor(index / FFT_BINS) + 1) * width;
    const mel = toMel(((index % FFT_BINS) * SAMPLE_RATE) / FFT_SAMPLES);
    return Math.max(0, 1 - Math.abs(mel - center) / width);
  });
}

function toMel(hertz: number): number {
  return 1127 * Math.log(1 + hertz / 700);
}
