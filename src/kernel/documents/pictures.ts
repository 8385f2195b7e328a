/** What a reader of documents does with images and scanned pages. */

import { DocumentError } from "./document-error.ts";

/** An image in memory: rows of gray, or of red, green and blue, with or without alpha, a byte each. */
export interface DecodedImage {
  data: Uint8Array;
  width: number;
  height: number;
  channels: 1 | 3 | 4;
}

export interface Pictures {
  /** Returns the text of an encoded image. `what` begins a sentence. Throws a DocumentError. */
  textOfImage(bytes: Uint8Array, what: string): Promise<string>;
  /** Returns the text of a page's images, turned by `degrees`, a multiple of 90. Throws a DocumentError. Left out: nobody looks. */
  textOfPage?(images: readonly DecodedImage[], degrees: number): Promise<string>;
}

/** Reads scanned pages as empty, as a person who skips the figures of a text. */
export const SKIPPED_PICTURES: Pictures = {
  textOfImage: async (_bytes, what) => {
    throw new DocumentError("unsupported_file", `${what}, which has no text.`, { isPicture: true });
  },
};

/** Refuses scanned pages, too, since nothing here recognizes their text. */
export const REFUSED_PICTURES: Pictures = {
  ...SKIPPED_PICTURES,
  textOfPage: async () => {
    throw new DocumentError("invalid_file", "Pages of the file are scans.", { isPicture: true });
  },
};
