const FADE_SECONDS = 0.004;

/** Fades the first and last 4 ms of a piece, which would click where pieces are joined. */
export function fadeEdges(samples: Float32Array, sampleRate: number): Float32Array {
  const faded = Float32Array.from(samples);
  const length = Math.min(Math.round(FADE_SECONDS * sampleRate), Math.floor(samples.length / 2));
  for (let index = 0; index < length; index += 1) {
    const gain = index / length;
    const last = samples.length - 1 - index;
    faded[index] = (faded[index] ?? 0) * gain;
    faded[last] = (faded[last] ?? 0) * gain;
  }
  return faded;
}
