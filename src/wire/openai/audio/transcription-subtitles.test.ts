import { parseSync } from "subtitle";
import { expect, test } from "vitest";
import type { TranscriptSegment } from "../../../contracts/transcription-model.ts";
import { toSrt, toVtt } from "./transcription-subtitles.ts";

const segment = (startSeconds: number, endSeconds: number, text: string): TranscriptSegment => ({
  type: "segment",
  startSeconds,
  endSeconds,
  text,
  words: undefined,
  confidence: undefined,
});

const LONG =
  "He was not an ill-disposed young man, unless to be rather cold-hearted and rather selfish is to be ill-disposed; " +
  "but he was, in general, well respected. Had he married a more amiable woman, he might have been made still more respectable.";
const SEGMENTS = [
  segment(0.5, 14, LONG),
  segment(15, 16.25, "a < b & c --> d"),
  segment(3599.9996, 3605, "An hour later."),
  segment(36_000, 36_001, `${"x".repeat(100)} y`),
];

test.each([
  ["SubRip", toSrt],
  ["WebVTT", toVtt],
] as const)("splits %s into cues that can be read in time", (_format, render) => {
  const cues = parseSync(render(SEGMENTS)).flatMap((node) => (node.type === "cue" ? [node.data] : []));
  expect(cues.length).toBeGreaterThan(SEGMENTS.length);
  let last = 0;
  for (const { start, end, text } of cues) {
    expect(start).toBeGreaterThanOrEqual(last);
    expect(end).toBeGreaterThan(start);
    last = end;
    const lines = text.split("\n");
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(42);
  }
  const first = cues.filter(({ start }) => start < 14_000).map(({ text }) => text.replaceAll("\n", " "));
  expect(first.join(" ")).toBe(LONG);
  expect(last).toBe(36_001_000);
});

test("formats times beyond an hour, and escapes markup", () => {
  expect(toVtt(SEGMENTS.slice(1, 3))).toBe(
    "WEBVTT\n\n00:00:15.000 --> 00:00:16.250\na &lt; b &amp; c --&gt; d\n\n01:00:00.000 --> 01:00:05.000\nAn hour later.\n\n",
  );
});

test("gives every cue a duration, however short its segment", () => {
  expect(toVtt([segment(1, 1, "a"), segment(2, 1.5, "b"), segment(3, 3.0002, "c")])).toBe(
    "WEBVTT\n\n00:00:01.000 --> 00:00:01.001\na\n\n00:00:02.000 --> 00:00:02.001\nb\n\n00:00:03.000 --> 00:00:03.001\nc\n\n",
  );
});

test("splits no character", () => {
  const subtitles = toSrt([segment(0, 9, `a${"𠮷".repeat(100)}`)]);
  expect(subtitles.isWellFormed()).toBe(true);
  expect(subtitles.match(/𠮷/g)).toHaveLength(100);
});

test("returns an empty file without speech", () => {
  expect(toSrt([])).toBe("");
  expect(toVtt([])).toBe("WEBVTT\n\n");
});
