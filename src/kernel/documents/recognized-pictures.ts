/** Text of images and scanned pages, recognized in this process. */

import { TextRecognizer } from "@parlance-inference/text-recognition/text-recognizer";
import sharp, { type Sharp } from "sharp";
import { DocumentError } from "./document-error.ts";
import type { Pictures } from "./pictures.ts";

/** Paths of the two networks. */
export interface RecognitionFiles {
  detector: string;
  recognizer: string;
}

/** A page of A4 at 600 dots an inch has 35 million. */
const MAX_PIXELS = 50_000_000;
/** Several documents share the cores. */
const THREADS = 1;

export function recognizedPictures(files: RecognitionFiles): Pictures {
  let opened: Promise<TextRecognizer> | undefined;
  const read = async (image: Sharp): Promise<string> => {
    opened ??= TextRecognizer.open(files, THREADS);
    const recognizer = await opened;
    const { data, info } = await image
      .flatten({ background: "#fff" })
      .toColorspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true })
      .catch((cause: unknown) => {
        throw new DocumentError("invalid_file", "The image is damaged, or has too many pixels.", { cause });
      });
    return recognizer.read({ data, width: info.width, height: info.height });
  };
  return {
    async textOfImage(bytes) {
      const { format, pages = 1 } = await sharp(bytes)
        .metadata()
        .catch((cause: unknown) => {
          throw new DocumentError("invalid_file", "The image is damaged.", { cause });
        });
      const texts: string[] = [];
      // A TIFF may be a document of several pages; those of other formats are the frames of an animation.
      for (let page = 0; page < (format === "tiff" ? pages : 1); page += 1) {
        // Cameras state in an image how they were held.
        texts.push(await read(sharp(bytes, { page, limitInputPixels: MAX_PIXELS }).autoOrient()));
      }
      return texts.join("\n\n");
    },
    async textOfPage(images, degrees) {
      const texts: string[] = [];
      for (const { data, ...raw } of images) {
        texts.push(await read(sharp(data, { raw, limitInputPixels: MAX_PIXELS }).rotate(degrees)));
      }
      return texts.join("\n");
    },
  };
}
