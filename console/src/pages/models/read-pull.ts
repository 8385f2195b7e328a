import type { Answers } from "../../api/answers.ts";
import { readEvents } from "../../components/read-events.ts";

export interface PullProgress {
  file: string;
  receivedBytes: number;
  /** Undefined until the source has said how large the model is. */
  totalBytes: number | undefined;
}

/** Reads the progress events of a pull. Throws the error that an event reports. */
export async function readPull(response: Response, onProgress: (progress: PullProgress) => void): Promise<void> {
  for await (const event of readEvents<Answers["ModelPullEvent"]>(response, true)) {
    if ("error" in event) throw new Error(event.error.message);
    const { file, received_bytes: received, completed_bytes: completed } = event;
    const ofModel = event.model_bytes ?? undefined;
    onProgress({
      file,
      receivedBytes: ofModel === undefined ? received : completed + received,
      totalBytes: ofModel ?? event.total_bytes ?? undefined,
    });
  }
}
