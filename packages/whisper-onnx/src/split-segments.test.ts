import { expect, test } from "vitest";
import { splitAtTimestamps } from "./split-segments.ts";

const FIRST = 1000;
const TIMES = {
  isTimestamp: (token: number) => token >= FIRST,
  secondsOf: (token: number) => (token - FIRST) * 0.02,
};
/** The token of a timestamp. */
const at = (seconds: number) => FIRST + Math.round(seconds / 0.02);

const times = (tokens: number[], windowSeconds = 20) => {
  const { segments, ...rest } = splitAtTimestamps(tokens, windowSeconds, TIMES);
  return { segments: segments.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]), ...rest };
};

test.each([
  ["one segment", [at(0), 1, 2, at(4)], { segments: [[0, 4]], transcribedSeconds: 4, isUnfinished: false }],
  [
    "two segments, the second up to the end",
    [at(0), 1, at(4), at(5), 2, at(9)],
    {
      segments: [
        [0, 4],
        [5, 9],
      ],
      transcribedSeconds: 9,
      isUnfinished: false,
    },
  ],
  [
    "one segment and an unfinished one",
    [at(0), 1, at(4), at(5), 2],
    { segments: [[0, 4]], transcribedSeconds: 4, isUnfinished: true },
  ],
  ["no end timestamp", [at(1), 1, 2], { segments: [[1, 20]], transcribedSeconds: 20, isUnfinished: false }],
  ["no timestamps", [1, 2], { segments: [[0, 20]], transcribedSeconds: 20, isUnfinished: false }],
  [
    "timestamps beyond the window",
    [at(0), 1, at(28)],
    { segments: [[0, 20]], transcribedSeconds: 20, isUnfinished: false },
  ],
] as const)("%s", (_name, tokens, expected) => {
  expect(times([...tokens])).toEqual(expected);
});
