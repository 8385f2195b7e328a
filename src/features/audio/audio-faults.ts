/** Maps errors of the audio package to Faults. */

import { AudioError, type AudioErrorCode } from "@parlance-inference/audio/audio-error";
import { Fault, invalidRequest, unavailable } from "../../kernel/faults.ts";

const unreadableFile = ({ message }: AudioError) => invalidRequest(message, "file", "invalid_value");

const FAULTS: Record<AudioErrorCode, (error: AudioError) => Fault> = {
  unreadable: unreadableFile,
  too_long: unreadableFile,
  unsupported_sample_rate: unreadableFile,
  decoder_killed: unreadableFile,
  decoder_failed: ({ message, cause }) => unavailable(message, "engine_failed", 1, cause),
  decoder_not_started: ({ message, cause }) => unavailable(message, "engine_failed", 5, cause),
  ffmpeg_not_usable: ({ message }) => new Fault("invalid-request", `server.ffmpeg: ${message}`),
};

/** Returns any other error as it is. */
export function toAudioFault(error: unknown): unknown {
  return error instanceof AudioError ? FAULTS[error.code](error) : error;
}

/** Wraps `samples` and maps its errors to Faults; the result can be iterated as often as `samples`. */
export function withAudioFaults(samples: AsyncIterable<Float32Array>): AsyncIterable<Float32Array> {
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* samples;
      } catch (error) {
        throw toAudioFault(error);
      }
    },
  };
}
