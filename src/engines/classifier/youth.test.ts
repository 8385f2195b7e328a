import { expect, test } from "vitest";
import { youthShare } from "./youth.ts";

test.each(["she is 15", "a 14 year old", "underage", "the little girl", "16yo"])("%s is certain", (text) => {
  expect(youthShare(text)).toBeGreaterThan(0.5);
});

test.each(["the high school reunion", "his daughter"])("%s is possible", (text) => {
  expect(youthShare(text)).toBeGreaterThan(0.1);
  expect(youthShare(text)).toBeLessThan(0.5);
});

test.each(["she is 35", "the man and the woman", "it lasted 15 minutes"])("%s is no cue", (text) => {
  expect(youthShare(text)).toBeLessThan(0.1);
});
