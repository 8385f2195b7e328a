import { integratedLoudness } from "./integrated-loudness.ts";
import { levelLoudness, TARGET_LUFS } from "./level-loudness.ts";

/** Sentences of one voice differ by up to 3 dB. */
const MEASURED_SECONDS = 20;

/**
 * Levels a voice whose loudness nobody has measured: by all that it has said, until that is twenty seconds. From then
 * on, the gain is constant.
 */
export class VoiceLevel {
  readonly #sampleRate: number;
  /** Undefined once it was enough. */
  #spoken: Float32Array | undefined = new Float32Array();
  #measuredLufs: number | undefined;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Returns a first sentence as it is if it is silent or too short to measure. */
  level(samples: Float32Array): Float32Array {
    if (this.#spoken !== undefined) this.#measure(this.#spoken, samples);
    return this.#measuredLufs === undefined ? samples : levelLoudness(samples, this.#measuredLufs);
  }

  #measure(before: Float32Array, samples: Float32Array): void {
    const spoken = new Float32Array(before.length + samples.length);
    spoken.set(before);
    spoken.set(samples, before.length);
    this.#measuredLufs = this.#loudnessBeforeLimiter(spoken);
    this.#spoken = spoken.length < MEASURED_SECONDS * this.#sampleRate ? spoken : undefined;
  }

  /** Corrects the loudness by what the limiter takes away from a voice with high peaks. */
  #loudnessBeforeLimiter(samples: Float32Array): number | undefined {
    const measured = integratedLoudness(samples, this.#sampleRate);
    if (measured === undefined) return undefined;
    const leveled = integratedLoudness(levelLoudness(samples, measured), this.#sampleRate) ?? TARGET_LUFS;
    return measured - (TARGET_LUFS - leveled);
  }
}
