/** Text of images: PP-OCR's two networks, and the order of what they read. */

import { readFile } from "node:fs/promises";
import { InferenceSession } from "onnxruntime-node";
import { LineDetector } from "./line-detector.ts";
import { LineRecognizer } from "./line-recognizer.ts";
import { modelCharacters } from "./model-characters.ts";
import type { Pixels } from "./pixels.ts";
import { textInOrder } from "./reading-order.ts";

export type { Pixels } from "./pixels.ts";

export interface RecognizerFiles {
  /** ONNX file of the detection network. */
  detector: string;
  /** ONNX file of the recognition network, with its characters in the metadata. */
  recognizer: string;
}

/** Below it, what was read is mostly noise of a picture. */
const MIN_CONFIDENCE = 0.5;

export class TextRecognizer {
  readonly #detector: LineDetector;
  readonly #recognizer: LineRecognizer;

  private constructor(detector: LineDetector, recognizer: LineRecognizer) {
    this.#detector = detector;
    this.#recognizer = recognizer;
  }

  static async open({ detector, recognizer }: RecognizerFiles, threads: number): Promise<TextRecognizer> {
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
    const model = await readFile(recognizer);
    const [detection, recognition] = await Promise.all([
      InferenceSession.create(detector, options),
      InferenceSession.create(model, options),
    ]);
    return new TextRecognizer(new LineDetector(detection), new LineRecognizer(recognition, modelCharacters(model)));
  }

  /** Returns the text of an image, or an empty text. */
  async read(image: Pixels): Promise<string> {
    const rectangles = await this.#detector.detect(image);
    const lines = await this.#recognizer.read(image, rectangles);
    return textInOrder(lines.filter(({ text, confidence }) => text.trim() !== "" && confidence >= MIN_CONFIDENCE));
  }
}
