import { SAMPLE_RATE } from "./audio-format.ts";
import type { SpeechSegment } from "./vad-segmenter.ts";

/** The samples of a segment in which speech was detected, without padding and pauses. */
export function speechOf({ samples, startSeconds, speech }: SpeechSegment): Float32Array {
  const parts = speech.map((range) => {
    const at = (seconds: number) => Math.max(0, Math.round((seconds - startSeconds) * SAMPLE_RATE));
    return samples.subarray(at(range.startSeconds), at(range.endSeconds));
  });
  return parts.length > 0 ? joinSamples(parts) : samples;
}

export function joinSamples(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    joined.set(part, position);
    position += part.length;
  }
  return joined;
}
