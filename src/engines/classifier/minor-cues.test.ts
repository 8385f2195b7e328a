import { expect, test } from "vitest";
import { minorCueShare } from "./minor-cues.ts";

test.each(["she is 15", "a 14 year old", "underage", "the little girl", "16yo"])(
  "finds a certain cue in %j",
  (text) => {
    expect(minorCueShare(text)).toBeGreaterThan(0.5);
  },
);

test.each(["the high school reunion", "two teenagers"])("finds a likely cue in %j", (text) => {
  expect(minorCueShare(text)).toBeGreaterThan(minorCueShare("his daughter"));
  expect(minorCueShare(text)).toBeLessThan(minorCueShare("she is 15"));
});

test.each(["his daughter", "the girls"])("finds a possible cue in %j", (text) => {
  expect(minorCueShare(text)).toBeGreaterThan(minorCueShare("she is 35"));
  expect(minorCueShare(text)).toBeLessThan(0.5);
});

test.each(["she is 35", "come here, baby", "the man and the woman", "it lasted 15 minutes"])(
  "finds no cue in %j",
  (text) => {
    expect(minorCueShare(text)).toBeLessThan(0.1);
  },
);
