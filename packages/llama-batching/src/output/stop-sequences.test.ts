import { expect, test } from "vitest";
import { StopSequences } from "./stop-sequences.ts";

/** Emitted text for each piece, and whether a stop sequence ended it. */
function say(stops: readonly string[], pieces: readonly string[]) {
  const watch = new StopSequences(stops);
  const given: string[] = [];
  for (const piece of pieces) {
    const { text, isStopped } = watch.push(piece);
    given.push(text);
    if (isStopped) return { given, isStopped };
  }
  given.push(watch.end());
  return { given, isStopped: false };
}

test("emits everything at once without stop sequences", () => {
  expect(say([], ["a", "b"])).toEqual({ given: ["a", "b", ""], isStopped: false });
  expect(say([""], ["a", "b"])).toEqual({ given: ["a", "b", ""], isStopped: false });
});

test("finds a stop sequence that spans pieces and emits no part of it", () => {
  expect(say(["END"], ["one E", "N", "D two"])).toEqual({ given: ["one ", "", ""], isStopped: true });
});

test("emits text that only looked like a stop sequence", () => {
  expect(say(["END"], ["E", "N", "ough", " E"])).toEqual({ given: ["", "", "ENough", " ", "E"], isStopped: false });
});

test("finds a stop sequence that begins inside a partial match", () => {
  expect(say(["aab"], ["a", "a", "a", "b", "c"])).toEqual({ given: ["", "", "a", ""], isStopped: true });
});

test("uses the stop sequence that is completed first", () => {
  expect(say(["long stop", "sto"], ["a long stop"]).given).toEqual(["a long "]);
  expect(say(["xyz", "yz"], ["wxyz"]).given).toEqual(["w"]);
});
