import { expect, test } from "vitest";
import { youthShare } from "./youth.ts";

test.each(["she is 15", "a 14 year old", "underage", "the little girl", "16yo"])("%s is certain", (text) => {
  expect(youthShare(text)).toBeGreaterThan(0.5);
});

test.each(["the high school reunion", "two teenagers"])("%s is likely", (text) => {
  expect(youthShare(text)).toBeGreaterThan(youthShare("his daughter"));
  expect(youthShare(text)).toBeLessThan(youthShare("she is 15"));
});

test.each(["his daughter", "the girls"])("%s is possible", (text) => {
  expect(youthShare(text)).toBeGreaterThan(youthShare("she is 35"));
  expect(youthShare(text)).toBeLessThan(0.5);
});

test.each(["she is 35", "come here, baby", "the man and the woman", "it lasted 15 minutes"])("%s is no cue", (text) => {
  expect(youthShare(text)).toBeLessThan(0.1);
});
