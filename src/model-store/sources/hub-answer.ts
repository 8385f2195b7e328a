/** Reads the headers of the hub's response about a file. */

import { Fault } from "../../kernel/faults.ts";
import type { PartNote } from "./hub-part.ts";
import { type HubAnswer, parseWholeNumber, text } from "./hub-request.ts";
import type { ExpectedFile } from "./source.ts";

/** Headers that request the rest of a file, or all of it when it has changed (RFC 9110, section 13.1.5). */
export function rangeFrom(bytes: number, etag: string | undefined): Record<string, string> {
  const range = { range: `bytes=${bytes}-` };
  return etag === undefined || etag.startsWith("W/") ? range : { ...range, "if-range": etag };
}

/** True if a 206 continues the same file exactly where the part ends. */
export function continues(answer: HubAnswer, part: { bytes: number; note: PartNote }): boolean {
  return contentRange(answer)?.start === part.bytes && isSameFile(answer, part.note);
}

/** True if a 416 says that the part is already the complete file. */
export function isComplete(answer: HubAnswer, part: { bytes: number; note: PartNote }): boolean {
  return answer.status === 416 && contentRange(answer)?.total === part.bytes && isSameFile(answer, part.note);
}

function isSameFile(answer: HubAnswer, note: PartNote): boolean {
  return answer.linked.sha256 === undefined || note.sha256 === undefined || answer.linked.sha256 === note.sha256;
}

/** Size of the complete file; undefined when the hub does not report it. */
export function totalBytes(answer: HubAnswer): number | undefined {
  const length = answer.status === 200 ? parseWholeNumber(answer.headers["content-length"]) : undefined;
  return answer.linked.bytes ?? contentRange(answer)?.total ?? length;
}

/** Throws a Fault, before the download, when the hub's file has another size or hash than expected. */
export function rejectMismatch(expected: ExpectedFile, answer: HubAnswer): void {
  const { sha256 } = answer.linked;
  if (expected.sha256 !== undefined && sha256 !== undefined && expected.sha256 !== sha256) {
    throw new Fault("unavailable", `wrong file, refused: expected SHA-256 ${expected.sha256}, the hub has ${sha256}`);
  }
  const bytes = totalBytes(answer);
  if (expected.bytes !== undefined && bytes !== undefined && expected.bytes !== bytes) {
    throw new Fault("unavailable", `wrong file, refused: expected ${expected.bytes} bytes, the hub has ${bytes}`);
  }
}

function contentRange(answer: HubAnswer): { start: number | undefined; total: number | undefined } | undefined {
  const groups = /^bytes (?:(?<start>\d+)-\d+|\*)\/(?<total>\d+|\*)$/.exec(
    text(answer.headers["content-range"]) ?? "",
  )?.groups;
  return groups && { start: parseWholeNumber(groups.start), total: parseWholeNumber(groups.total) };
}
