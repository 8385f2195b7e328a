/** Media types of files, by their first bytes or the extension of their name. */

import { extname } from "node:path";
import { hasSignature } from "../../kernel/documents/signature.ts";

/** Media types by their signatures (`hasSignature`). */
const SIGNATURES: readonly (readonly [mediaType: string, signature: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF8"],
  ["image/webp", "RIFF????WEBP"],
  ["image/bmp", "BM"],
  ["application/pdf", "%PDF-"],
  ["audio/wav", "RIFF????WAVE"],
  ["audio/mpeg", "ID3"],
  ["audio/ogg", "OggS"],
  ["audio/flac", "fLaC"],
  ["video/mp4", "????ftyp"],
  ["video/webm", "\x1aE\xdf\xa3"],
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
  const match = SIGNATURES.find(([, signature]) => hasSignature(bytes, signature));
  if (match !== undefined) return match[0];
  return announced ?? EXTENSIONS.get(extname(filename).toLowerCase()) ?? "application/octet-stream";
}
