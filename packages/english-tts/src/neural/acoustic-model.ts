/** A network that turns phonemes into samples. */
export interface AcousticModel {
  /** The default voice first. */
  readonly voices: readonly string[];
  readonly sampleRate: number;
  /** Whether `a+b` names a mix of two voices. */
  readonly mixesVoices: boolean;
  /** Phonemes that one call accepts. */
  readonly maxPhonemes: number;
  /**
   * Synthesizes IDs of the vocabulary, without the padding at both ends. `speed` 1 is the voice's own pace. The result
   * is meaningless once `signal` has aborted. Calls must not overlap.
   */
  synthesize(phonemes: readonly number[], voice: string, speed: number, signal: AbortSignal): Promise<Float32Array>;
  /** Integrated loudness of a voice, in LUFS (EBU R 128), over several sentences; undefined if it was not measured. */
  loudnessOf(voice: string): number | undefined;
  close(): Promise<void>;
}

/** Adds the padding at both ends that the networks were trained with. */
export function paddedIds(phonemes: readonly number[]): BigInt64Array {
  return BigInt64Array.from([0, ...phonemes, 0], BigInt);
}
