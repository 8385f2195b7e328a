import { SAMPLE_RATE } from "./audio-format.ts";

/** A pause this short lies between words or within a plosive. */
export const QUIET_SAMPLES = 0.06 * SAMPLE_RATE;

/** The middle of the quietest 60 ms between two positions: the best place to cut speech that has no pause. */
export function quietestPosition(samples: Float32Array, from: number, to: number): number {
  let best = from;
  let bestEnergy = Number.POSITIVE_INFINITY;
  for (let start = from; start + QUIET_SAMPLES <= to; start += QUIET_SAMPLES / 4) {
    let energy = 0;
    for (const sample of samples.subarray(start, start + QUIET_SAMPLES)) energy += sample * sample;
    if (energy >= bestEnergy) continue;
    bestEnergy = energy;
    best = start + QUIET_SAMPLES / 2;
  }
  return Math.round(best);
}
