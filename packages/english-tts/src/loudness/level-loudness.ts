/** Loudness that all voices are brought to, in LUFS (EBU R 128). */
export const TARGET_LUFS = -20;
/** Samples below stay as they are; louder ones are bent so that they never reach full scale. */
const KNEE = 0.85;

/** Amplifies a voice of a known loudness to the target. A soft limiter prevents clipping. */
export function levelLoudness(samples: Float32Array, measuredLufs: number): Float32Array {
  const gain = 10 ** ((TARGET_LUFS - measuredLufs) / 20);
  return samples.map((sample) => limit(sample * gain));
}

function limit(sample: number): number {
  const level = Math.abs(sample);
  if (level <= KNEE) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh((level - KNEE) / (1 - KNEE)));
}
