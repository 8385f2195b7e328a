/** Documents with pages that are images. `test/long/text-recognition.test.ts` reads them with a model. */

import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { pdf, scannedPdf } from "../../../test/support/vector-stores/sample-documents.ts";
import { textOfDocument } from "./document-text.ts";
import { type DecodedImage, type Pictures, REFUSED_PICTURES, SKIPPED_PICTURES } from "./pictures.ts";

const [WIDTH, HEIGHT] = [600, 800];
let jpeg: Buffer;
beforeAll(async () => {
  jpeg = await sharp({ create: { width: WIDTH, height: HEIGHT, channels: 3, background: "#fff" } })
    .jpeg()
    .toBuffer();
});

const page = (more: object = {}) => ({ image: { jpeg }, width: WIDTH, height: HEIGHT, ...more });

/** Says what it was asked to read. */
const named: Pictures = {
  textOfImage: async (bytes, what) => `${what} of ${bytes.length} bytes`,
  textOfPage: async (images, degrees) => `${images.map(sizeOf).join(", ")} turned by ${degrees}`,
};

function sizeOf({ data, width, height, channels }: DecodedImage): string {
  return data.length === width * height * channels ? `${width} x ${height}` : "incomplete";
}

test("asks for the text of each page that is an image, and says how its readers turn it", async () => {
  const file = scannedPdf(page(), page({ rotate: 90 }));
  expect(await textOfDocument(file, "a.pdf", named)).toBe("600 x 800 turned by 0\n\n600 x 800 turned by 90");
});

test.each([false, true])("unpacks a page of one bit a pixel, as a mask: %s", async (isMask) => {
  // Black on the left, white on the right; a row ends with a part of a byte.
  const [width, height] = [602, 400];
  const row = Buffer.alloc(Math.ceil(width / 8), 0xff).fill(0, 0, 30);
  const bits = Buffer.concat(Array.from({ length: height }, () => row));
  let seen: DecodedImage | undefined;
  const pictures: Pictures = {
    ...named,
    textOfPage: async ([image]) => {
      seen = image;
      return "seen";
    },
  };
  await textOfDocument(scannedPdf({ image: { bits, isMask }, width, height }), "a.pdf", pictures);
  expect(seen).toMatchObject({ width, height, channels: 1 });
  expect([seen?.data[0], seen?.data[239], seen?.data[240], seen?.data[601], seen?.data[602]]).toEqual([
    0, 0, 255, 255, 0,
  ]);
});

test("keeps what a scanner has printed onto a page", async () => {
  expect(await textOfDocument(scannedPdf(page({ stamp: "Page 7" })), "a.pdf", named)).toBe(
    "Page 7\n600 x 800 turned by 0",
  );
});

test("does not look at the images of a page of text", async () => {
  const stamp = "A page with a figure. ".repeat(8);
  const text = await textOfDocument(scannedPdf(page({ stamp })), "a.pdf", REFUSED_PICTURES);
  expect(text).toMatch(/^(?:A page with a figure\. ?)+$/);
});

test.each([
  ["refused", REFUSED_PICTURES, "Pages of the file are scans."],
  ["skipped", SKIPPED_PICTURES, "The file contains no text."],
])("says that it is a scan where pictures are %s", async (_name, pictures, message) => {
  await expect(textOfDocument(scannedPdf(page()), "a.pdf", pictures)).rejects.toMatchObject({
    ...{ code: "invalid_file", message, isPicture: true },
  });
});

test("leaves scanned pages out of a document with others where pictures are skipped", async () => {
  const file = scannedPdf(page({ stamp: "Cover" }), page());
  expect(await textOfDocument(file, "a.pdf", SKIPPED_PICTURES)).toBe("Cover");
});

test("reads a PDF of texts without looking for pictures", async () => {
  expect(await textOfDocument(pdf("Tides."), "a.pdf", REFUSED_PICTURES)).toBe("Tides.");
});

test.each(["png", "jpeg", "webp", "gif", "tiff"] as const)("knows an image by its first bytes: %s", async (format) => {
  const image = await sharp(jpeg).toFormat(format).toBuffer();
  expect(await textOfDocument(image, "", named)).toMatch(new RegExp(`an? ${format} image of \\d+ bytes$`, "i"));
  await expect(textOfDocument(image, "", REFUSED_PICTURES)).rejects.toMatchObject({
    ...{ code: "unsupported_file", isPicture: true },
  });
});

test("reads an SVG with the name of an image format at its place as the text that it is", async () => {
  const svg = '<svg    WEBP="" xmlns="http://www.w3.org/2000/svg"/>';
  expect(await textOfDocument(Buffer.from(svg), "a.txt", REFUSED_PICTURES)).toBe(svg);
});
