import type { TranscriptionRequest } from "../../src/engines/engine.ts";

/** A request with default options. */
export function makeTranscriptionRequest(
  asked: Partial<TranscriptionRequest> & Pick<TranscriptionRequest, "file">,
): TranscriptionRequest {
  return {
    model: "test-model",
    samples: (async function* () {})(),
    translate: false,
    language: undefined,
    prompt: undefined,
    temperature: 0,
    wordTimes: false,
    stream: false,
    ...asked,
  };
}
