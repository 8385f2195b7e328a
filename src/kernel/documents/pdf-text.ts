/** Text of the pages of a PDF, and of those that are scans. */

import { DocumentError } from "./document-error.ts";
import type { DecodedImage, Pictures } from "./pictures.ts";

type PdfDocument = Awaited<ReturnType<typeof import("unpdf").getDocumentProxy>>;

/** A scan covers its page; a logo or a rule does not. */
const MIN_PIXELS = 100_000;
/** Programs that scan print a number or a name onto each page. */
const MAX_STAMP_CHARACTERS = 100;
const CHANNELS = [1, 3, 4] as const;

/** Throws a DocumentError for a damaged or encrypted file. */
export async function textOfPdf(bytes: Buffer, pictures: Pictures): Promise<string> {
  const { extractText, getDocumentProxy } = await import("unpdf");
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, isEvalSupported: false });
    const { text: pages } = await extractText(document, { mergePages: false });
    if (pictures.textOfPage === undefined) return pages.join("\n\n");
    for (const [index, text] of pages.entries()) {
      if (text.length > MAX_STAMP_CHARACTERS) continue;
      const images = await largeImages(document, index + 1);
      if (images.length === 0) continue;
      const { rotate } = await document.getPage(index + 1);
      pages[index] = `${text}\n${await pictures.textOfPage(images, rotate)}`;
    }
    return pages.join("\n\n");
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const isEncrypted = error instanceof Error && error.name === "PasswordException";
    const reason = isEncrypted ? "is protected by a password" : "is damaged";
    throw new DocumentError("invalid_file", `The PDF ${reason}.`, { cause: error });
  }
}

async function largeImages(document: PdfDocument, page: number): Promise<DecodedImage[]> {
  const { extractImages } = await import("unpdf");
  return (await extractImages(document, page)).flatMap(({ data, width, height }) => {
    const channels = CHANNELS.find((each) => data.length === width * height * each);
    if (channels === undefined || width * height < MIN_PIXELS) return [];
    return [{ data: new Uint8Array(data.buffer, data.byteOffset, data.length), width, height, channels }];
  });
}
