/** Transcripts as files. untranslated file: Office Open XML */

import { strToU8, zipSync } from "fflate";
import { nameOf, type Segment, type SpeakerNames, type Transcript } from "./transcript.ts";

export function toText({ segments }: Transcript, names: SpeakerNames): string {
  return `${turnsOf(segments)
    .map(({ speaker, text }) => (speaker === null ? text : `${nameOf(speaker, names)}: ${text}`))
    .join("\n\n")}\n`;
}

export function toSrt({ segments }: Transcript, names: SpeakerNames): string {
  return segments
    .map((segment, index) => `${index + 1}\n${timesOf(segment, ",")}\n${lineOf(segment, names)}\n`)
    .join("\n");
}

/** WebVTT, with its own marks for speakers. */
export function toVtt({ segments }: Transcript, names: SpeakerNames): string {
  const toCue = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const cues = segments.map((segment) => {
    const voice = segment.speaker === null ? "" : `<v ${toCue(nameOf(segment.speaker, names))}>`;
    return `${timesOf(segment, ".")}\n${voice}${toCue(segment.text.trim())}\n`;
  });
  return `WEBVTT\n\n${cues.join("\n")}`;
}

export function toJson({ text, segments }: Transcript, names: SpeakerNames): string {
  const shown = segments.map(({ start, end, text, speaker, words }) => ({
    start,
    end,
    ...(speaker !== null && { speaker: nameOf(speaker, names) }),
    text: text.trim(),
    words: words.map((word) => ({ word: word.text, start: word.start, end: word.end })),
  }));
  return JSON.stringify({ text: text.trim(), segments: shown }, undefined, 2);
}

/** A Word document: a heading, and a paragraph for each turn of a speaker. */
export function toDocx({ segments }: Transcript, names: SpeakerNames, title: string): Uint8Array<ArrayBuffer> {
  const paragraphs = turnsOf(segments).map(({ speaker, text, start }) => {
    const head = [clock(start).slice(0, 8), ...(speaker === null ? [] : [nameOf(speaker, names)])].join("  ");
    return `<w:p><w:pPr><w:keepNext/><w:spacing w:before="200"/></w:pPr>${run(head, "<w:b/>")}</w:p><w:p>${run(text)}</w:p>`;
  });
  const heading = `<w:p>${run(title, '<w:b/><w:sz w:val="32"/>')}</w:p>`;
  const body = `<w:document xmlns:w="${WORD}"><w:body>${heading}${paragraphs.join("")}<w:sectPr/></w:body></w:document>`;
  return zipSync({
    "[Content_Types].xml": strToU8(`${XML}${CONTENT_TYPES}`),
    "_rels/.rels": strToU8(`${XML}${RELATIONSHIPS}`),
    "word/document.xml": strToU8(`${XML}${body}`),
  }) as Uint8Array<ArrayBuffer>;
}

interface Turn {
  speaker: string | null;
  start: number;
  text: string;
}

/** Joins the segments that a speaker says one after the other. */
function turnsOf(segments: readonly Segment[]): Turn[] {
  const turns: Turn[] = [];
  for (const { speaker, start, text } of segments) {
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === speaker) last.text += ` ${text.trim()}`;
    else turns.push({ speaker, start, text: text.trim() });
  }
  return turns;
}

function lineOf({ speaker, text }: Segment, names: SpeakerNames): string {
  return speaker === null ? text.trim() : `${nameOf(speaker, names)}: ${text.trim()}`;
}

function timesOf({ start, end }: Segment, separator: string): string {
  return `${clock(start, separator)} --> ${clock(end, separator)}`;
}

/** `01:02:03,456` */
function clock(seconds: number, separator = "."): string {
  const milliseconds = Math.round(seconds * 1000);
  const parts = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60];
  const whole = parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
  return `${whole}${separator}${String(milliseconds % 1000).padStart(3, "0")}`;
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONSHIPS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

function run(text: string, properties = ""): string {
  // XML 1.0 has no control characters but tab and line breaks.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes them
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
  const escaped = plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${escaped}</w:t></w:r>`;
}
