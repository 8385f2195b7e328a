import { addOutput } from "@parlance-inference/onnx-graph/add-output";

interface PhonemeCall {
  /** IDs of the vocabulary, without the padding at both ends. */
  phonemes: readonly number[];
  voice: string;
  /** 1 is the voice's own pace. */
  speed: number;
  /** Whether the caller wants durations. */
  isTimed: boolean;
}

interface SpokenPhonemes {
  samples: Float32Array;
  /** Durations of the phonemes and the padding, in frames, whose sum is that of the samples; undefined unless timed. */
  durations: number[] | undefined;
}

/** A network that turns phonemes into samples. */
export interface AcousticModel {
  /** The default voice first. */
  readonly voices: readonly string[];
  readonly sampleRate: number;
  /** Whether `a+b` names a mix of two voices. */
  readonly mixesVoices: boolean;
  /** Phonemes that one call accepts. */
  readonly maxPhonemes: number;
  /** The result is meaningless once `signal` has aborted. Calls must not overlap. */
  synthesize(call: PhonemeCall, signal: AbortSignal): Promise<SpokenPhonemes>;
  /** Integrated loudness of a voice, in LUFS (EBU R 128), over several sentences; undefined if it was not measured. */
  loudnessOf(voice: string): number | undefined;
  close(): Promise<void>;
}

export const DURATIONS = "durations";

/** Both networks repeat each phoneme for as many frames as they predict, at places that they find by a cumulative sum. */
export const durationsOutput = addOutput(DURATIONS, "CumSum");

/** Reads the output of `durationsOutput`; undefined in a run without it. */
export function toDurations(output: { data: unknown } | undefined): number[] | undefined {
  return output && Array.from(output.data as BigInt64Array, Number);
}

/** Adds the padding at both ends that the networks were trained with. */
export function paddedIds(phonemes: readonly number[]): BigInt64Array {
  return BigInt64Array.from([0, ...phonemes, 0], BigInt);
}
