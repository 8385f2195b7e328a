/** Text of the pages of a PDF, and of those that are scans. */

import { DocumentError } from "./document-error.ts";
import type { DecodedImage, Pictures } from "./pictures.ts";

type PdfDocument = Awaited<ReturnType<typeof import("unpdf").getDocumentProxy>>;

type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

/** As pdf.js decodes it. */
type PdfImage = { data?: Uint8Array | Uint8ClampedArray; width?: number; height?: number } | undefined | null;

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

/** Returns the large images of a page, in the order in which they are drawn. */
async function largeImages(document: PdfDocument, number: number): Promise<DecodedImage[]> {
  const { getResolvedPDFJS } = await import("unpdf");
  const { OPS } = await getResolvedPDFJS();
  const drawn: ReadonlySet<number> = new Set([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
  ]);
  const page = await document.getPage(number);
  const { fnArray, argsArray } = await page.getOperatorList();
  const images: DecodedImage[] = [];
  const seen = new Set<unknown>();
  for (const [index, operator] of fnArray.entries()) {
    const [argument] = argsArray[index] ?? [];
    // A page may draw one image thousands of times.
    if (!drawn.has(operator) || seen.has(argument)) continue;
    seen.add(argument);
    const image = toImage(await resolved(page, argument));
    if (image !== undefined) images.push(image);
  }
  return images;
}

/** An image's data, or those of a mask, may be kept under a name, for the page or for the document. */
async function resolved(page: PdfPage, drawn: unknown): Promise<PdfImage> {
  const named = (name: string) =>
    new Promise<PdfImage>((resolve) => (name.startsWith("g_") ? page.commonObjs : page.objs).get(name, resolve));
  if (typeof drawn === "string") return named(drawn);
  const image = drawn as PdfImage & { data?: unknown };
  return typeof image?.data === "string" ? named(image.data) : image;
}

/** Returns undefined for one that is too small for a page, and for one in no form that is known. */
function toImage(image: PdfImage): DecodedImage | undefined {
  const { data, width = 0, height = 0 } = image ?? {};
  if (data === undefined || width * height < MIN_PIXELS) return undefined;
  const channels = CHANNELS.find((each) => data.length === width * height * each);
  if (channels !== undefined) {
    return { data: new Uint8Array(data.buffer, data.byteOffset, data.length), width, height, channels };
  }
  const rowBytes = Math.ceil(width / 8);
  return data.length === rowBytes * height
    ? { data: unpacked(data, width, height), width, height, channels: 1 }
    : undefined;
}

/** One bit a pixel, of which 0 is black, to a byte a pixel. Faxes and most scans in black and white have it. */
function unpacked(bits: Uint8Array | Uint8ClampedArray, width: number, height: number): Uint8Array {
  const data = new Uint8Array(width * height);
  const rowBytes = Math.ceil(width / 8);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const byte = bits[row * rowBytes + (column >> 3)] as number;
      data[row * width + column] = ((byte >> (7 - (column & 7))) & 1) * 255;
    }
  }
  return data;
}
