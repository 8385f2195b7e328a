/** Renders a transcript as readable subtitles: SubRip (.srt) and WebVTT. */

import type { TranscriptSegment } from "../../../contracts/transcription-model.ts";

interface Cue {
  startSeconds: number;
  endSeconds: number;
  lines: string[];
}

/** Maximum characters of a line. Subtitles usually have two lines of 42 characters. */
const LINE_CHARACTERS = 42;
const CUE_LINES = 2;
const CLAUSE_ENDS = [". ", "? ", "! ", ", ", "; ", ": "];

/** Renders SubRip; an empty file without segments. */
export function toSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .flatMap(toCues)
    .map((cue, index) => `${index + 1}\n${times(cue, ",")}\n${cue.lines.join("\n")}\n\n`)
    .join("");
}

/** Renders WebVTT; only its header without segments. */
export function toVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.flatMap(toCues).map((cue) => `${times(cue, ".")}\n${escapeVtt(cue.lines.join("\n"))}\n\n`);
  return `WEBVTT\n\n${cues.join("")}`;
}

/** Divides the segment's time in proportion to the text, because most models have no times within a segment. */
function toCues({ text, startSeconds, endSeconds }: TranscriptSegment): Cue[] {
  const parts = splitText(text);
  const characters = parts.reduce((sum, part) => sum + part.length, 0);
  let before = 0;
  const at = (position: number) => startSeconds + ((endSeconds - startSeconds) * position) / Math.max(1, characters);
  return parts.map((part) => {
    const cue = { startSeconds: at(before), endSeconds: at(before + part.length), lines: wrap(part) };
    before += part.length;
    return cue;
  });
}

/** Splits text into parts that fit a cue, at the end of a sentence or clause unless that leaves a fragment. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  let rest = text.replace(/\s+/g, " ").trim();
  while (rest !== "") {
    const full = wrap(rest).slice(0, CUE_LINES).join(" ");
    const clause = Math.max(...CLAUSE_ENDS.map((end) => full.lastIndexOf(end) + 1));
    const isAll = full.length >= rest.length;
    const part = !isAll && clause > LINE_CHARACTERS / 2 ? full.slice(0, clause) : full;
    parts.push(part);
    // A word that was broken because of its length has no space at the break.
    rest = rest.startsWith(part) ? rest.slice(part.length).trim() : rest.slice(part.length - 1).trim();
  }
  return parts;
}

/** Fills lines greedily; a word longer than a line is broken. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > LINE_CHARACTERS) {
    const space = rest.lastIndexOf(" ", LINE_CHARACTERS);
    const end = space > 0 ? space : wholeCharacters(rest, LINE_CHARACTERS);
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? lines : [...lines, rest];
}

/** Returns an index that does not split a surrogate pair. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
}

/** Formats the times of a cue; its end is after its start, because players ignore other cues. */
function times({ startSeconds, endSeconds }: Cue, point: "," | "."): string {
  const start = Math.round(startSeconds * 1000);
  const end = Math.max(start + 1, Math.round(endSeconds * 1000));
  return `${toTimestamp(start, point)} --> ${toTimestamp(end, point)}`;
}

function toTimestamp(milliseconds: number, point: string): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const rest = String(milliseconds % 1000).padStart(3, "0");
  return `${two(milliseconds / 3_600_000)}:${two((milliseconds / 60_000) % 60)}:${two((milliseconds / 1000) % 60)}${point}${rest}`;
}

function escapeVtt(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
