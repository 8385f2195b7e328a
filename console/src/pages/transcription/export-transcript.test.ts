import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { toDocx, toJson, toSrt, toText, toVtt } from "./export-transcript.ts";
import type { Transcript } from "./transcript.ts";

const TRANSCRIPT: Transcript = {
  text: "One. Two. Three <3.",
  segments: [
    { id: 0, start: 0, end: 1.5, text: " One.", speaker: "A", words: [{ text: "One.", start: 0.2, end: 1 }] },
    { id: 1, start: 1.5, end: 2, text: "Two.", speaker: "A", words: [] },
    { id: 2, start: 3661.25, end: 3662, text: "Three <3.", speaker: "B", words: [] },
  ],
  hasWordTimes: true,
};
const NAMES = { B: "Ben & Co" };

test("writes the turns of speakers as text", () => {
  expect(toText(TRANSCRIPT, NAMES)).toBe("Speaker A: One. Two.\n\nBen & Co: Three <3.\n");
  const plain = { ...TRANSCRIPT, segments: TRANSCRIPT.segments.map((each) => ({ ...each, speaker: null })) };
  expect(toText(plain, NAMES)).toBe("One. Two. Three <3.\n");
});

test("writes subtitles with speakers", () => {
  expect(toSrt(TRANSCRIPT, NAMES)).toContain("3\n01:01:01,250 --> 01:01:02,000\nBen & Co: Three <3.\n");
  expect(toVtt(TRANSCRIPT, NAMES)).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.500\n<v Speaker A>One\.\n\n/);
  expect(toVtt(TRANSCRIPT, NAMES)).toContain("<v Ben &amp; Co>Three &lt;3.\n");
});

test("writes segments and words as JSON", () => {
  const { text, segments } = JSON.parse(toJson(TRANSCRIPT, NAMES));
  expect(text).toBe(TRANSCRIPT.text);
  expect(segments[0]).toEqual({
    ...{ start: 0, end: 1.5, speaker: "Speaker A", text: "One." },
    words: [{ word: "One.", start: 0.2, end: 1 }],
  });
});

test("writes a Word document whose text is escaped", () => {
  const files = unzipSync(toDocx(TRANSCRIPT, NAMES, "Meeting\u0001"));
  expect(Object.keys(files)).toEqual(["[Content_Types].xml", "_rels/.rels", "word/document.xml"]);
  const document = strFromU8(files["word/document.xml"] as Uint8Array);
  const texts = [...document.matchAll(/<w:t [^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(texts).toEqual(["Meeting", "00:00:00  Speaker A", "One. Two.", "01:01:01  Ben &amp; Co", "Three &lt;3."]);
});
