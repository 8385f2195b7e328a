/** Phonemes to samples: what the two families of networks have in common. */
export interface AcousticModel {
  /** Its usual voice first. */
  readonly voices: readonly string[];
  readonly sampleRate: number;
  /** Whether `a+b` is a voice between two. */
  readonly mixesVoices: boolean;
  /** Phonemes that it takes at once. */
  readonly mostPhonemes: number;
  /**
   * `phonemes` are ids of the vocabulary, without the padding at both ends. `speed`: 1 is the voice's own pace. What it
   * gives once `signal` has aborted is of no use. Not to be called again before it has resolved.
   */
  synthesize(phonemes: readonly number[], voice: string, speed: number, signal: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/** A padding at both ends, as the networks were trained. */
export function paddedIds(phonemes: readonly number[]): BigInt64Array {
  return BigInt64Array.from([0, ...phonemes, 0], BigInt);
}
