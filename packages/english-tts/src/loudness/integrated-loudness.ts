/**
 * Integrated loudness of mono audio as ITU-R BS.1770-4 defines it: K-weighting, blocks of 400 ms that overlap by
 * three quarters, and two gates.
 */

const BLOCK_SECONDS = 0.4;
/** A block starts with each of these. */
const STEP_SECONDS = 0.1;
const STEPS_PER_BLOCK = 4;
const OFFSET_LUFS = -0.691;
const ABSOLUTE_GATE_LUFS = -70;
const RELATIVE_GATE_LU = 10;

/** Coefficients of a second-order filter, with a0 = 1. */
interface Biquad {
  b: readonly [number, number, number];
  a: readonly [number, number];
}

/** Returns LUFS; undefined if the audio is shorter than 400 ms or silent. */
export function integratedLoudness(samples: Float32Array, sampleRate: number): number | undefined {
  const powers = blockPowers(kWeighted(samples, sampleRate), sampleRate);
  const audible = powers.filter((power) => lufs(power) > ABSOLUTE_GATE_LUFS);
  if (audible.length === 0) return undefined;
  const gate = lufs(mean(audible)) - RELATIVE_GATE_LU;
  return lufs(mean(audible.filter((power) => lufs(power) > gate)));
}

function lufs(power: number): number {
  return OFFSET_LUFS + 10 * Math.log10(power);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function blockPowers(samples: Float32Array, sampleRate: number): number[] {
  const length = Math.round(sampleRate * STEP_SECONDS);
  const steps = Array.from({ length: Math.floor(samples.length / length) }, (_, index) => {
    let sum = 0;
    for (const sample of samples.subarray(index * length, (index + 1) * length)) sum += sample * sample;
    return sum;
  });
  const blockLength = sampleRate * BLOCK_SECONDS;
  return steps
    .slice(STEPS_PER_BLOCK - 1)
    .map((_, index) => steps.slice(index, index + STEPS_PER_BLOCK).reduce((sum, step) => sum + step, 0) / blockLength);
}

function kWeighted(samples: Float32Array, sampleRate: number): Float32Array {
  return filtered(filtered(samples, headShelf(sampleRate)), lowCut(sampleRate));
}

function filtered(samples: Float32Array, { b: [b0, b1, b2], a: [a1, a2] }: Biquad): Float32Array {
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}

/**
 * The standard lists coefficients for 48 kHz only. These analog parameters reproduce them and give those of other rates
 * (De Man, "Evaluation of Implementations of the EBU R128 Loudness Measurement", AES 2018).
 */
function headShelf(sampleRate: number): Biquad {
  const [frequency, gain, q] = [1681.974450955533, 3.999843853973347, 0.7071752369554196];
  const k = Math.tan((Math.PI * frequency) / sampleRate);
  const high = 10 ** (gain / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b: [(high + (band * k) / q + k * k) / a0, (2 * (k * k - high)) / a0, (high - (band * k) / q + k * k) / a0],
    a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0],
  };
}

function lowCut(sampleRate: number): Biquad {
  const [frequency, q] = [38.13547087602444, 0.5003270373238773];
  const k = Math.tan((Math.PI * frequency) / sampleRate);
  const a0 = 1 + k / q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0] };
}
