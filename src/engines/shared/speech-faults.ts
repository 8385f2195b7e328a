import { TtsError, type TtsErrorCode } from "@parlance-inference/english-tts/tts-error";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";

const FAULTS: Record<TtsErrorCode, (error: TtsError) => Fault> = {
  input_too_long: ({ message }) => invalidRequest(message, "input", "string_above_max_length"),
  nothing_to_speak: ({ message }) => invalidRequest(message, "input", "invalid_value"),
  invalid_ssml: ({ message }) => invalidRequest(message, "input", "invalid_value"),
  unsupported_language: ({ message }) => invalidRequest(message, "input", "unsupported_language"),
  unknown_voice: ({ message }) => invalidRequest(message, "voice", "invalid_value"),
};

/** Maps errors of text to speech to Faults. */
export async function* withSpeechFaults<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  try {
    yield* events;
  } catch (error) {
    throw error instanceof TtsError ? FAULTS[error.code](error) : error;
  }
}
