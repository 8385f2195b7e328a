/** Finds the lines of text in an image with PP-OCR's detection network (Differentiable Binarization). */

import { type InferenceSession, Tensor } from "onnxruntime-node";
import sharp from "sharp";
import { type Pixels, type Rectangle, writePlanes } from "./pixels.ts";
import { findRectangles } from "./rectangles.ts";

/** The network halves its input five times. */
const MULTIPLE = 32;
/** Longest side that the network sees: a page of print stays legible. */
const MAX_SIDE = 1216;
/** Smaller images are enlarged, as in training. */
const MIN_SIDE = 736;

export class LineDetector {
  readonly #session: InferenceSession;

  constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** Returns rectangles in pixels of the image, in no order. */
  async detect(image: Pixels): Promise<Rectangle[]> {
    const { width, height } = networkSize(image);
    const resized = await sharp(image.data, { raw: { width: image.width, height: image.height, channels: 3 } })
      .resize(width, height, { fit: "fill", kernel: "linear" })
      .raw()
      .toBuffer();
    const input = new Float32Array(3 * width * height);
    writePlanes({ data: resized, width, height }, input);
    const [name = "x"] = this.#session.inputNames;
    const outputs = await this.#session.run({ [name]: new Tensor("float32", input, [1, 3, height, width]) });
    const values = outputs[this.#session.outputNames[0] as string]?.data as Float32Array;
    const [scaleX, scaleY] = [image.width / width, image.height / height];
    return findRectangles({ values, width, height }).map((rectangle) => scaled(rectangle, scaleX, scaleY));
  }
}

function networkSize({ width, height }: Pixels): { width: number; height: number } {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const scale = Math.min(MAX_SIDE / long, Math.max(1, MIN_SIDE / short));
  const side = (length: number) => Math.max(MULTIPLE, Math.round((length * scale) / MULTIPLE) * MULTIPLE);
  return { width: side(width), height: side(height) };
}

/** Both scales differ by the rounding to whole multiples only, so that a rectangle stays one. */
function scaled({ x, y, width, height, ...direction }: Rectangle, scaleX: number, scaleY: number): Rectangle {
  return { ...direction, x: x * scaleX, y: y * scaleY, width: width * scaleX, height: height * scaleY };
}
