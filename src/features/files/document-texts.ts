/** Text of documents, and of scans and images where the model that recognizes it is on disk. */

import type { EngineServices } from "../../contracts/engine.ts";
import type { TextChunk } from "../../kernel/documents/chunk-text.ts";
import { DocumentError } from "../../kernel/documents/document-error.ts";
import { type DocumentOptions, readDocument } from "../../kernel/documents/document-reader.ts";
import type { RecognitionFiles } from "../../kernel/documents/recognized-pictures.ts";

/** Manifest ID of the model. */
const RECOGNITION_MODEL = "pp-ocrv6-small";

export interface DocumentTextsOptions {
  store: Pick<EngineServices, "findPulled">;
  maxDocumentCpuSeconds: number;
  maxTextRecognitionCpuSeconds: number;
}

type ReadOptions = Pick<DocumentOptions, "filename" | "chunking">;

export class DocumentTexts {
  readonly #options: DocumentTextsOptions;

  constructor(options: DocumentTextsOptions) {
    this.#options = options;
  }

  /** Whether scans and images can be read. */
  async recognizes(): Promise<boolean> {
    return (await this.#files()) !== undefined;
  }

  /**
   * Yields the chunks of a file. `open` begins it a second time for a file with pictures, which alone gets a process that may
   * run native code. Throws what `readDocument` throws.
   */
  async *read(
    open: () => AsyncIterable<Uint8Array>,
    options: ReadOptions,
    signal: AbortSignal,
  ): AsyncGenerator<TextChunk> {
    const { maxDocumentCpuSeconds: cpuSeconds, maxTextRecognitionCpuSeconds } = this.#options;
    const files = await this.#files();
    const pictures = files === undefined ? "skip" : "refuse";
    try {
      yield* readDocument(open(), { ...options, cpuSeconds, pictures }, signal);
      return;
    } catch (error) {
      if (!(error instanceof DocumentError) || !error.isPicture) throw error;
      if (files === undefined) throw withHint(error);
    }
    const recognizing = {
      cpuSeconds: maxTextRecognitionCpuSeconds,
      budgetSetting: "server.max_text_recognition_cpu_seconds",
      pictures: files,
    };
    yield* readDocument(open(), { ...options, ...recognizing }, signal);
  }

  async #files(): Promise<RecognitionFiles | undefined> {
    const { paths = {} } = (await this.#options.store.findPulled(RECOGNITION_MODEL)) ?? {};
    const { "detector.onnx": detector, "recognizer.onnx": recognizer } = paths;
    return detector === undefined || recognizer === undefined ? undefined : { detector, recognizer };
  }
}

function withHint({ code, message, cause }: DocumentError): DocumentError {
  const hint = `Scans and images can be read once the operator has added text recognition: parlance models pull ${RECOGNITION_MODEL}`;
  return new DocumentError(code, `${message} ${hint}`, { cause });
}
