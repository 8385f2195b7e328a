import { expect, test } from "vitest";
import { StopTexts } from "./stop-texts.ts";

/** What is given out, piece by piece, and whether a stop text ended it. */
function say(stops: readonly string[], pieces: readonly string[]) {
  const watch = new StopTexts(stops);
  const given: string[] = [];
  for (const piece of pieces) {
    const { text, isOver } = watch.push(piece);
    given.push(text);
    if (isOver) return { given, isOver };
  }
  given.push(watch.end());
  return { given, isOver: false };
}

test("gives everything out at once when there is no stop text", () => {
  expect(say([], ["a", "b"])).toEqual({ given: ["a", "b", ""], isOver: false });
  expect(say([""], ["a", "b"])).toEqual({ given: ["a", "b", ""], isOver: false });
});

test("finds a stop text that spans pieces and never gives out a part of it", () => {
  expect(say(["END"], ["one E", "N", "D two"])).toEqual({ given: ["one ", "", ""], isOver: true });
});

test("gives out what only looked like a stop text", () => {
  expect(say(["END"], ["E", "N", "ough", " E"])).toEqual({ given: ["", "", "ENough", " ", "E"], isOver: false });
});

test("finds a stop text that begins inside what looked like one", () => {
  expect(say(["aab"], ["a", "a", "a", "b", "c"])).toEqual({ given: ["", "", "a", ""], isOver: true });
});

test("takes the stop text that is complete first", () => {
  expect(say(["long stop", "sto"], ["a long stop"]).given).toEqual(["a long "]);
  expect(say(["xyz", "yz"], ["wxyz"]).given).toEqual(["w"]);
});
