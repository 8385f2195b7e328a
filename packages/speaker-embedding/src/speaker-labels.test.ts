import { expect, test } from "vitest";
import { LiveSpeakers, labelSpeakers, type Utterance } from "./speaker-labels.ts";

/** An utterance whose voice is a direction in the plane. */
const spoken = (degrees: number, seconds = 2): Utterance => ({
  voice: Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)),
  seconds,
});
const live = (utterances: readonly Utterance[], speakers = new LiveSpeakers()) =>
  utterances.map((utterance) => speakers.label(utterance));

test("gives speakers letters in the order in which they speak", () => {
  const dialogue = [spoken(0), spoken(120), spoken(10), spoken(240), spoken(115)];
  expect(labelSpeakers(dialogue)).toEqual(["A", "B", "A", "C", "B"]);
  expect(live(dialogue)).toEqual(["A", "B", "A", "C", "B"]);
});

test("assigns short utterances to the most similar speaker and never adds one for them", () => {
  const dialogue = [spoken(0), spoken(120), spoken(200, 0.5), spoken(300, 0.4)];
  expect(labelSpeakers(dialogue)).toEqual(["A", "B", "B", "A"]);
  expect(live(dialogue)).toEqual(["A", "B", "B", "A"]);
  expect(labelSpeakers([spoken(0, 0.5), spoken(120, 0.5)])).toEqual(["A", "B"]);
});

test("names known voices and gives the others letters", () => {
  const known = [
    { name: "Ann", voice: spoken(115).voice },
    { name: "Ben", voice: spoken(240).voice },
  ];
  const dialogue = [spoken(0), spoken(120), spoken(10)];
  expect(labelSpeakers(dialogue, known)).toEqual(["A", "Ann", "A"]);
  expect(live(dialogue, new LiveSpeakers(known))).toEqual(["A", "Ann", "A"]);
});

test("labels more utterances than it clusters", () => {
  const dialogue = Array.from({ length: 900 }, (_, index) => spoken(120 * (index % 3) + (index % 7)));
  expect(labelSpeakers(dialogue).slice(-6)).toEqual(["A", "B", "C", "A", "B", "C"]);
});

test("continues after Z with two letters", () => {
  const speakers = new LiveSpeakers();
  const names = Array.from({ length: 28 }, () => speakers.nameOf(Float32Array.of(1)));
  expect([names[0], names[25], names[26], names[27]]).toEqual(["A", "Z", "AA", "AB"]);
});
