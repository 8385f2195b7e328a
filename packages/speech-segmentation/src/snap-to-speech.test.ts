import { expect, test } from "vitest";
import { snapToSpeech } from "./snap-to-speech.ts";

const SPEECH = [
  { startSeconds: 1, endSeconds: 4 },
  { startSeconds: 6, endSeconds: 9 },
];

test.each([
  ["a start in silence", [0, 3], [1, 3]],
  ["an end in silence", [2, 5.5], [2, 4]],
  ["both ends in silence", [0, 10], [1, 9]],
  ["times in speech", [2, 7], [2, 7]],
  ["times without speech", [4.5, 5.5], [4.5, 5.5]],
])("snaps %s", (_name, [startSeconds = 0, endSeconds = 0], expected) => {
  const snapped = snapToSpeech({ startSeconds, endSeconds }, SPEECH);
  expect([snapped.startSeconds, snapped.endSeconds]).toEqual(expected);
});
