/** Reads lines of text with PP-OCR's recognition network, whose output is decoded by connectionist temporal classification. */

import { type InferenceSession, Tensor } from "onnxruntime-node";
import { cutOut, type Pixels, type Rectangle, writePlanes } from "./pixels.ts";

export interface Line extends Rectangle {
  text: string;
  /** Mean probability of its characters. */
  confidence: number;
}

/** Height of a line in the network's input. */
const HEIGHT = 48;
/** Shorter lines are padded to it, as in training. */
const MIN_WIDTH = 320;
const MAX_WIDTH = 3200;
/** Lines at once; those of a batch have similar lengths. */
const BATCH = 6;
/** A rectangle this much higher than wide holds a line that runs upward or downward. */
const VERTICAL = 1.5;
const BLANK = 0;

export class LineRecognizer {
  readonly #session: InferenceSession;
  /** By class; the first is the blank. */
  readonly #characters: readonly string[];

  constructor(session: InferenceSession, characters: readonly string[]) {
    this.#session = session;
    this.#characters = ["", ...characters, " "];
  }

  /** Returns lines in the order of the rectangles. */
  async read(image: Pixels, rectangles: readonly Rectangle[]): Promise<Line[]> {
    const byLength = rectangles
      .map((rectangle, index) => ({ index, lying: lying(rectangle) }))
      .sort((a, b) => aspect(a.lying) - aspect(b.lying));
    const lines: Line[] = [];
    for (let first = 0; first < byLength.length; first += BATCH) {
      const batch = byLength.slice(first, first + BATCH);
      const texts = await this.#readBatch(
        image,
        batch.map((each) => each.lying),
      );
      for (const [place, { index }] of batch.entries()) {
        lines[index] = { ...(rectangles[index] as Rectangle), ...(texts[place] as Pick<Line, "text" | "confidence">) };
      }
    }
    return lines;
  }

  async #readBatch(image: Pixels, rectangles: readonly Rectangle[]) {
    const widths = rectangles.map((rectangle) => Math.min(MAX_WIDTH, Math.ceil(HEIGHT * aspect(rectangle))));
    const width = Math.max(MIN_WIDTH, ...widths);
    const size = 3 * HEIGHT * width;
    const input = new Float32Array(rectangles.length * size);
    for (const [place, rectangle] of rectangles.entries()) {
      const line = cutOut(image, rectangle, widths[place] as number, HEIGHT);
      writePlanes(padded(line, width), input.subarray(place * size, (place + 1) * size));
    }
    const [name = "x"] = this.#session.inputNames;
    const tensor = new Tensor("float32", input, [rectangles.length, 3, HEIGHT, width]);
    const output = (await this.#session.run({ [name]: tensor }))[this.#session.outputNames[0] as string] as Tensor;
    const [, steps = 0, classes = 0] = output.dims;
    const values = output.data as Float32Array;
    return rectangles.map((_rectangle, place) =>
      this.#decode(values.subarray(place * steps * classes, (place + 1) * steps * classes), classes),
    );
  }

  /** The most probable class of each step, without repetitions and blanks. */
  #decode(values: Float32Array, classes: number): Pick<Line, "text" | "confidence"> {
    let [text, sum, count, previous] = ["", 0, 0, BLANK];
    for (let at = 0; at < values.length; at += classes) {
      const best = indexOfLargest(values, at, classes);
      if (best !== BLANK && best !== previous) {
        text += this.#characters[best] ?? "";
        sum += values[at + best] as number;
        count += 1;
      }
      previous = best;
    }
    return { text, confidence: count === 0 ? 0 : sum / count };
  }
}

/** Turns a rectangle that stands on its short side by a right angle. */
function lying(rectangle: Rectangle): Rectangle {
  const { alongX, alongY, width, height } = rectangle;
  if (height < VERTICAL * width) return rectangle;
  return { ...rectangle, alongX: alongY, alongY: -alongX, width: height, height: width };
}

function aspect({ width, height }: Rectangle): number {
  return width / Math.max(1, height);
}

/** Gray, which is zero in the network's input. */
function padded(line: Pixels, width: number): Pixels {
  if (line.width === width) return line;
  const data = new Uint8Array(width * line.height * 3).fill(127);
  for (let row = 0; row < line.height; row += 1) {
    data.set(line.data.subarray(row * line.width * 3, (row + 1) * line.width * 3), row * width * 3);
  }
  return { data, width, height: line.height };
}

function indexOfLargest(values: Float32Array, from: number, count: number): number {
  let best = 0;
  for (let index = 1; index < count; index += 1) {
    if ((values[from + index] as number) > (values[from + best] as number)) best = index;
  }
  return best;
}
