/** Scores images for sexual content with Yahoo's open_nsfw, a residual network on ONNX Runtime. */

import { availableParallelism } from "node:os";
import { InferenceSession, Tensor } from "onnxruntime-node";
import sharp from "sharp";
import { invalidRequest } from "../../kernel/faults.ts";
import { receiveMessages } from "../host/receive-messages.ts";
import { logit, sigmoid } from "./pool-windows.ts";

const DATA_URL = /^data:[^,]*;base64,/;
/** Yahoo: scores above 0.8 indicate with high probability that the image is sexual, scores below 0.2 that it is not. */
const THRESHOLD = 0.8;
const SIZE = 256;
const CROP = 224;
const MARGIN = (SIZE - CROP) / 2;
/** The network was trained on images of this quality. */
const JPEG_QUALITY = 75;
/** In the order of the network's channels: blue, green, red. */
const MEAN = [104, 117, 123] as const;
const CHANNELS = MEAN.length;
const MAX_PIXELS = 50_000_000;
const MAX_DECODE_SECONDS = 20;
const MAX_THREADS = 4;

export class ImageScorer {
  readonly #session: InferenceSession;

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  static async open(
    weights: string,
    threads: number = Math.min(MAX_THREADS, availableParallelism()),
  ): Promise<ImageScorer> {
    const session = await InferenceSession.create(weights, {
      intraOpNumThreads: threads,
      extra: { session: { intra_op: { allow_spinning: "0" } } },
    });
    return new ImageScorer(session);
  }

  /** Returns the highest score of the images, whose threshold is 0.5. Throws a Fault for one that cannot be read. */
  async score(images: readonly string[], signal: AbortSignal): Promise<number> {
    let highest = 0;
    for (const image of images) {
      if (signal.aborted) break;
      highest = Math.max(highest, await this.#probability(await pixelsOf(image)));
      await receiveMessages();
    }
    return sigmoid(logit(highest) - logit(THRESHOLD));
  }

  async #probability(pixels: Float32Array): Promise<number> {
    const [input = "", output = ""] = [this.#session.inputNames[0], this.#session.outputNames[0]];
    const results = await this.#session.run({ [input]: new Tensor("float32", pixels, [1, CROP, CROP, CHANNELS]) });
    // Probabilities of harmless and sexual content.
    return Number(results[output]?.data[1] ?? 0);
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}

/** The middle of the image as [height, width, channels], as open_nsfw prepares its input. */
async function pixelsOf(url: string): Promise<Float32Array> {
  const head = DATA_URL.exec(url);
  if (head === null) {
    const message =
      "This model reads images as data URLs, such as data:image/jpeg;base64,…. Send the image in the request.";
    throw invalidRequest(message, "input", "invalid_image_url");
  }
  const bytes = await decoded(Buffer.from(url.slice(head[0].length), "base64"));
  const pixels = new Float32Array(bytes.length);
  for (let at = 0; at < bytes.length; at += CHANNELS) {
    for (const [channel, mean] of MEAN.entries())
      pixels[at + channel] = (bytes[at + CHANNELS - 1 - channel] ?? 0) - mean;
  }
  return pixels;
}

async function decoded(file: Buffer): Promise<Buffer> {
  try {
    const middle = await sharp(file, { limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: MAX_DECODE_SECONDS })
      .autoOrient()
      .flatten({ background: "white" })
      .toColourspace("srgb")
      .resize(SIZE, SIZE, { fit: "fill", kernel: "linear" })
      .extract({ left: MARGIN, top: MARGIN, width: CROP, height: CROP })
      .jpeg({ quality: JPEG_QUALITY })
      .toBuffer();
    return await sharp(middle).toColourspace("srgb").removeAlpha().raw().toBuffer();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `An image of \`input\` cannot be read: ${reason}. Send a JPEG, PNG, WebP, GIF or AVIF of at most ${MAX_PIXELS / 1e6} million pixels.`;
    throw invalidRequest(message, "input", "invalid_image");
  }
}
