import { openAsBlob } from "node:fs";
import type { TranscriptionRequest } from "../../../src/contracts/transcription-model.ts";

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

/** An upload on disk. */
export function uploadedFile(path: string, name: string): TranscriptionRequest["file"] {
  return { name, bytes: 5, open: () => openAsBlob(path) };
}
