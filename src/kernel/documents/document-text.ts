/** Text of a file in any of the formats that the service indexes. */

import { extname } from "node:path";
import { DocumentError } from "./document-error.ts";
import { textOfHtml } from "./markup-text.ts";
import { textOfOffice } from "./office-text.ts";
import { textOfPdf } from "./pdf-text.ts";
import type { Pictures } from "./pictures.ts";
import { hasSignature } from "./signature.ts";

/** What a file is, by its signature (`hasSignature`). */
type Signature = readonly [name: string, signature: string];

const IMAGES: readonly Signature[] = [
  ["a PNG image", "\x89PNG"],
  ["a JPEG image", "\xff\xd8\xff"],
  ["a GIF image", "GIF8"],
  ["a WebP image", "RIFF????WEBP"],
  ["a TIFF image", "II*\0"],
  ["a TIFF image", "MM\0*"],
];

/** Files that have no text to read here. */
const WITHOUT_TEXT: readonly Signature[] = [
  ["an MP4 file", "????ftyp"],
  ["a WAVE or AVI file", "RIFF"],
  ["an MP3 file", "ID3"],
  ["a file of Word, Excel or PowerPoint 97 to 2003; save it as DOCX, XLSX or PPTX", "\xd0\xcf\x11\xe0"],
  ["a gzip archive", "\x1f\x8b"],
];
const HTML_NAMES: ReadonlySet<string> = new Set([".html", ".htm", ".xhtml"]);
const HTML_START = /^\s*(?:<!doctype html|<html)[\s>]/i;

/** Throws a DocumentError for a file without readable text. */
export async function textOfDocument(bytes: Buffer, filename: string, pictures: Pictures): Promise<string> {
  const text = normalize(await read(bytes, extname(filename).toLowerCase(), pictures));
  if (text === "") throw new DocumentError("invalid_file", "The file contains no text.", { isPicture: isPdf(bytes) });
  return text;
}

async function read(bytes: Buffer, extension: string, pictures: Pictures): Promise<string> {
  if (isPdf(bytes)) return textOfPdf(bytes, pictures);
  if (hasSignature(bytes, "PK\x03\x04")) return textOfOffice(bytes);
  const image = IMAGES.find(([, signature]) => hasSignature(bytes, signature));
  if (image !== undefined) return pictures.textOfImage(bytes, `The file is ${image[0]}`);
  const other = WITHOUT_TEXT.find(([, signature]) => hasSignature(bytes, signature));
  if (other !== undefined) throw new DocumentError("unsupported_file", `The file is ${other[0]}, which has no text.`);
  const text = decode(bytes);
  return HTML_NAMES.has(extension) || HTML_START.test(text) ? textOfHtml(text) : text;
}

function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, 1024).includes("%PDF-");
}

/** UTF-8, UTF-16 with a byte order mark, or Windows-1252. */
function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes.subarray(0, 65_536).includes(0)) {
    throw new DocumentError("unsupported_file", "The file is binary and none of the supported formats.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Without control characters, which databases refuse, spaces at line ends, and more than one empty line. */
function normalize(text: string): string {
  return (
    text
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ")
      // The search starts at the first space of a run only: from each of them it would be quadratic.
      .replace(/(?<![ \t\u00a0])[ \t\u00a0]+$/gm, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}
