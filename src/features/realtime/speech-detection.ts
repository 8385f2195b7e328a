import { type HostedVadStream, VadProcess } from "@parlance-inference/speech-segmentation/vad-process";
import { startSpeechDetector } from "../../kernel/process/child.ts";

/** Detects speech for all sessions, in one process that the first of them starts. */
export class SpeechDetection {
  readonly #findFile: (signal: AbortSignal) => Promise<string>;
  #vad: VadProcess | undefined;

  /** `findFile` resolves with the path of Silero's model. */
  constructor(findFile: (signal: AbortSignal) => Promise<string>) {
    this.#findFile = findFile;
  }

  /** Starts a recording. Throws a Fault when the model cannot be had. */
  async open(signal: AbortSignal): Promise<HostedVadStream> {
    if (this.#vad === undefined) {
      const path = await this.#findFile(signal);
      this.#vad ??= new VadProcess(path, startSpeechDetector);
    }
    return this.#vad.stream();
  }

  close(): void {
    this.#vad?.close();
  }
}
