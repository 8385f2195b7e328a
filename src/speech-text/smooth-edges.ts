const FADE_SECONDS = 0.004;

/** Fades a piece in and out at its very ends, so that its joins with what is before and after make no click. */
export function smoothEdges(samples: Float32Array, sampleRate: number): Float32Array {
  const smooth = Float32Array.from(samples);
  const length = Math.min(Math.round(FADE_SECONDS * sampleRate), Math.floor(samples.length / 2));
  for (let index = 0; index < length; index += 1) {
    const gain = index / length;
    const last = samples.length - 1 - index;
    smooth[index] = (smooth[index] ?? 0) * gain;
    smooth[last] = (smooth[last] ?? 0) * gain;
  }
  return smooth;
}
