import { expect, test } from "vitest";
import { cutAtTimes } from "./segments.ts";

const FIRST = 1000;
const TIMES = {
  isTime: (token: number) => token >= FIRST,
  secondsOf: (token: number) => (token - FIRST) * 0.02,
};
/** The token of a time. */
const at = (seconds: number) => FIRST + Math.round(seconds / 0.02);

const times = (tokens: number[], windowSeconds = 20) => {
  const { segments, ...rest } = cutAtTimes(tokens, windowSeconds, TIMES);
  return { segments: segments.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]), ...rest };
};

test.each([
  ["one segment", [at(0), 1, 2, at(4)], { segments: [[0, 4]], toldSeconds: 4, goesOn: false }],
  [
    "two, the second up to the end",
    [at(0), 1, at(4), at(5), 2, at(9)],
    {
      segments: [
        [0, 4],
        [5, 9],
      ],
      toldSeconds: 9,
      goesOn: false,
    },
  ],
  [
    "one, and another that was only begun",
    [at(0), 1, at(4), at(5), 2],
    { segments: [[0, 4]], toldSeconds: 4, goesOn: true },
  ],
  ["no end", [at(1), 1, 2], { segments: [[1, 20]], toldSeconds: 20, goesOn: false }],
  ["no times", [1, 2], { segments: [[0, 20]], toldSeconds: 20, goesOn: false }],
  ["times beyond the window", [at(0), 1, at(28)], { segments: [[0, 20]], toldSeconds: 20, goesOn: false }],
] as const)("%s", (_name, tokens, expected) => {
  expect(times([...tokens])).toEqual(expected);
});
