/**
 * Source-filter vocoder of the hibari voices. The network predicts a spectrum for each 12.5 ms in three parts: harmonics
 * of the pitch, noise, and a residual with an explicit phase. As its authors describe it:
 * S = exp(h) e^(iπ tanh θ) E + exp(n) Z + exp(r) e^(iφ), where E is the spectrum of pulses at the pitch and Z is noise.
 */

import { setImmediate } from "node:timers/promises";
import type { FourierTransform } from "./fourier-transform.ts";

export const HIBARI_SAMPLE_RATE = 24_000;
/** Required size of the transform, in samples. */
export const WINDOW = 1200;
const HOP = 300;
const BINS = WINDOW / 2 + 1;
const MAX_EXPONENT = 7;
const MIN_VOICED_HERTZ = 40;
const MAX_HARMONIC_HERTZ = 11_000;

/** Arrays of [bins, frames] in row order, except `pitch`, which has one value (in hertz) per frame. */
export interface SpectralParts {
  harmonicLevel: Float32Array;
  harmonicPhase: Float32Array;
  noiseLevel: Float32Array;
  residualLevel: Float32Array;
  residualPhase: Float32Array;
  pitch: Float32Array;
}

const HANN = Float32Array.from({ length: WINDOW }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW));

/** Frames per turn of the event loop: half a second of sound, some milliseconds of work. */
const FRAMES_PER_TURN = 40;

/** Yields to the event loop in between. Returns early, with meaningless samples, once `signal` aborts. */
export async function synthesizeWave(
  parts: SpectralParts,
  transform: FourierTransform,
  signal: AbortSignal,
): Promise<Float32Array> {
  const frames = parts.pitch.length;
  const samples = frames * HOP;
  const pulses = pulseTrain(parts.pitch);
  const summed = new Float32Array(samples + WINDOW);
  const weights = new Float32Array(samples + WINDOW);
  for (let frame = 0; frame < frames; frame += 1) {
    if (frame % FRAMES_PER_TURN === FRAMES_PER_TURN - 1) await setImmediate();
    if (signal.aborted) break;
    const { signal: wave, spectrum } = transform;
    const start = frame * HOP;
    cutWindow(pulses, start - WINDOW / 2, wave);
    transform.toSpectrum();
    shapeSpectrum(spectrum, parts, frame);
    transform.toSignal();
    for (let index = 0; index < WINDOW; index += 1) {
      const weight = HANN[index] as number;
      summed[start + index] = (summed[start + index] as number) + ((wave[index] as number) / WINDOW) * weight;
      weights[start + index] = (weights[start + index] as number) + weight * weight;
    }
  }
  const middle = WINDOW / 2;
  return Float32Array.from({ length: samples }, (_, index) => {
    const weight = weights[middle + index] as number;
    return (summed[middle + index] as number) / Math.max(weight, 1e-11);
  });
}

/** Copies a window of the signal, which is mirrored beyond its ends. */
function cutWindow(signal: Float32Array, start: number, window: Float32Array): void {
  const last = signal.length - 1;
  for (let index = 0; index < WINDOW; index += 1) {
    let position = Math.abs(start + index);
    if (position > last) position = Math.max(0, 2 * last - position);
    window[index] = ((signal[position] ?? 0) * (HANN[index] as number)) / HOP;
  }
}

/** Turns the spectrum of the pulses, interleaved complex numbers, into that of the voice. */
function shapeSpectrum(spectrum: Float32Array, parts: SpectralParts, frame: number): void {
  const frames = parts.pitch.length;
  const level = (exponents: Float32Array, at: number) => Math.exp(Math.min(exponents[at] as number, MAX_EXPONENT));
  for (let bin = 0; bin < BINS; bin += 1) {
    const at = bin * frames + frame;
    const turn = Math.PI * Math.tanh(parts.harmonicPhase[at] as number);
    const harmonic = level(parts.harmonicLevel, at);
    const cosine = harmonic * Math.cos(turn);
    const sine = harmonic * Math.sin(turn);
    const real = spectrum[2 * bin] as number;
    const imaginary = spectrum[2 * bin + 1] as number;
    // Two independent normal deviates (Box–Muller).
    const noise = level(parts.noiseLevel, at) * Math.sqrt(-2 * Math.log(1 - Math.random()));
    const noiseTurn = 2 * Math.PI * Math.random();
    const residual = level(parts.residualLevel, at);
    const residualTurn = parts.residualPhase[at] as number;
    spectrum[2 * bin] =
      real * cosine - imaginary * sine + noise * Math.cos(noiseTurn) + residual * Math.cos(residualTurn);
    spectrum[2 * bin + 1] =
      real * sine + imaginary * cosine + noise * Math.sin(noiseTurn) + residual * Math.sin(residualTurn);
  }
}

/** Sums all harmonics of the pitch at equal amplitude, in closed form; silent where unvoiced. */
function pulseTrain(pitch: Float32Array): Float32Array {
  const pulses = new Float32Array(pitch.length * HOP);
  const last = pitch.length - 1;
  let turns = 0;
  for (let index = 0; index < pulses.length; index += 1) {
    const position = Math.min(Math.max((index + 0.5) / HOP - 0.5, 0), last);
    const before = Math.floor(position);
    const share = position - before;
    const hertz = (pitch[before] as number) * (1 - share) + (pitch[Math.min(before + 1, last)] as number) * share;
    turns = (turns + Math.max(hertz, MIN_VOICED_HERTZ) / HIBARI_SAMPLE_RATE) % 1;
    if (hertz <= MIN_VOICED_HERTZ) continue;
    const harmonics = Math.floor(MAX_HARMONIC_HERTZ / hertz) + 0.5;
    const phase = 2 * Math.PI * turns;
    const divisor = 2 * Math.sin(phase / 2);
    const sum = Math.abs(divisor) < 0.002 ? harmonics : Math.sin(harmonics * phase) / divisor;
    pulses[index] = sum - 0.5;
  }
  return pulses;
}
