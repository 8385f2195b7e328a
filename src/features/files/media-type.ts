/** Media types of files, by their first bytes or the extension of their name. */

import { extname } from "node:path";

/** Media type, first bytes in Latin 1, and where they are. */
const SIGNATURES: readonly (readonly [mediaType: string, signature: string, offset: number])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n", 0],
  ["image/jpeg", "\xff\xd8\xff", 0],
  ["image/gif", "GIF8", 0],
  ["image/webp", "WEBP", 8],
  ["image/bmp", "BM", 0],
  ["application/pdf", "%PDF-", 0],
  ["audio/wav", "WAVE", 8],
  ["audio/mpeg", "ID3", 0],
  ["audio/ogg", "OggS", 0],
  ["audio/flac", "fLaC", 0],
  ["video/mp4", "ftyp", 4],
  ["video/webm", "\x1aE\xdf\xa3", 0],
];

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  [".txt", "text/plain"],
  [".md", "text/markdown"],
  [".csv", "text/csv"],
  [".html", "text/html"],
  [".xml", "text/xml"],
  [".json", "application/json"],
  [".jsonl", "application/jsonl"],
  [".mp3", "audio/mpeg"],
  [".svg", "image/svg+xml"],
  [".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  [".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  [".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
]);

/** `announced`: what the server of the file says. The bytes take precedence, because servers guess. */
export function mediaTypeOf(bytes: Buffer, filename: string, announced?: string): string {
  const match = SIGNATURES.find(
    ([, signature, offset]) => bytes.toString("latin1", offset, offset + signature.length) === signature,
  );
  if (match !== undefined) return match[0];
  return announced ?? EXTENSIONS.get(extname(filename).toLowerCase()) ?? "application/octet-stream";
}
