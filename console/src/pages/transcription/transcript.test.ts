import { expect, test } from "vitest";
import {
  estimateWords,
  indexAt,
  speakersOf,
  type Transcript,
  talkShares,
  withSpeaker,
  withText,
} from "./transcript.ts";

const segment = (id: number, speaker: string | null, start: number, end: number, text: string) => ({
  ...{ id, speaker, start, end, text },
  words: estimateWords({ text, start, end }),
});
const TRANSCRIPT: Transcript = {
  text: "Hello there. Hi.",
  segments: [segment(0, "B", 0, 3, "Hello there."), segment(1, "A", 3, 4, "Hi.")],
  hasWordTimes: false,
};

test("divides the time of a segment among its words by their letters", () => {
  const words = estimateWords({ text: " Hello  there.", start: 2, end: 15 });
  expect(words).toEqual([
    { text: "Hello", start: 2, end: 8 },
    { text: "there.", start: 8, end: 15 },
  ]);
  expect(estimateWords({ text: "  ", start: 0, end: 1 })).toEqual([]);
});

test.each([
  [-0.1, -1],
  [0, 0],
  [2.9, 0],
  [3, 1],
  [99, 1],
])("finds what has begun at %d s", (seconds, index) => {
  expect(indexAt(TRANSCRIPT.segments, seconds)).toBe(index);
  expect(indexAt([], seconds)).toBe(-1);
});

test("lists speakers as they begin, with their shares of the time", () => {
  expect(speakersOf(TRANSCRIPT.segments)).toEqual(["B", "A"]);
  expect([...talkShares(TRANSCRIPT.segments)]).toEqual([
    ["B", 0.75],
    ["A", 0.25],
  ]);
  expect(talkShares([segment(0, null, 0, 3, "Hello.")]).size).toBe(0);
});

test("edits a passage and gives it to another speaker, and leaves the others as they are", () => {
  const edited = withSpeaker(withText(TRANSCRIPT, 1, "Hi, Ada."), 1, "B");
  expect(edited.text).toBe("Hello there. Hi, Ada.");
  expect(edited.segments[1]).toMatchObject({ speaker: "B", text: "Hi, Ada.", start: 3, end: 4 });
  expect(edited.segments[1]?.words.map(({ text }) => text)).toEqual(["Hi,", "Ada."]);
  expect(edited.segments[0]).toBe(TRANSCRIPT.segments[0]);
});
