import { readEvents } from "../../components/read-events.ts";

interface PullEvent {
  file?: string;
  completed_bytes?: number;
  model_bytes?: number | null;
  received_bytes?: number;
  total_bytes?: number | null;
  error?: { message: string };
}

export interface PullProgress {
  file: string;
  receivedBytes: number;
  /** Undefined until the source has said how large the model is. */
  totalBytes: number | undefined;
}

/** Reads the progress events of a pull. Throws the error that an event reports. */
export async function readPull(response: Response, onProgress: (progress: PullProgress) => void): Promise<void> {
  for await (const event of readEvents<PullEvent>(response, true)) {
    if (event.error !== undefined) throw new Error(event.error.message);
    const { file = "", received_bytes: received = 0, completed_bytes: completed = 0 } = event;
    const ofModel = event.model_bytes ?? undefined;
    onProgress({
      file,
      receivedBytes: ofModel === undefined ? received : completed + received,
      totalBytes: ofModel ?? event.total_bytes ?? undefined,
    });
  }
}
