import { expect, test } from "vitest";
import { alignWords } from "./align-words.ts";

/** Aligns words, each with its sounds alone, and writes the words of the sounds of a sentence. */
function align(alone: readonly (readonly [word: string, sounds: string])[], spoken: string): (string | undefined)[] {
  const sounds = alone.map(([, each]) => (each === "" ? [] : each.split(" ")));
  return alignWords(sounds, spoken.split(" ")).map((word) => (word === undefined ? undefined : alone[word]?.[0]));
}

test("gives several sounds to the word that is read as them", () => {
  const alone = [
    ["It", "ɪt"],
    ["is", "ɪz"],
    ["$9", "nˈIn dˈɑləɹz"],
    ["now", "nˈW"],
  ] as const;
  expect(align(alone, "ɪt ɪz nˈIn dˈɑləɹz nˈW")).toEqual(["It", "is", "$9", "$9", "now"]);
});

test("gives what only the context reads to a word that it changes", () => {
  const alone = [
    ["On", "ˈɔn"],
    ["3", "θɹˈi"],
    ["March", "mˈɑɹʧ"],
    ["2024", "twˈɛnti twˈɛnti fˈɔɹ"],
    ["we", "wi"],
  ] as const;
  const spoken = "ˌɔn ðə θˈɜɹd ʌv mˈɑɹʧ twˈɛnti twˈɛnti fˈɔɹ wi";
  expect(align(alone, spoken)).toEqual(["On", "3", "3", "3", "March", "2024", "2024", "2024", "we"]);
});

test("gives a sign what it is read as, and none if it is silent", () => {
  expect(
    align(
      [
        ["you", "ju"],
        ["&", ""],
        ["me", "mi"],
      ],
      "ju ænd mi",
    ),
  ).toEqual(["you", "&", "me"]);
  expect(
    align(
      [
        ["you", "ju"],
        ["—", ""],
        ["me", "mi"],
      ],
      "ju — mi",
    ),
  ).toEqual(["you", undefined, "me"]);
  expect(
    align(
      [
        ["you", "ju"],
        ["—", ""],
        ["me", "mi"],
      ],
      "ju mi",
    ),
  ).toEqual(["you", "me"]);
});

test("has no word for sounds without words", () => {
  expect(alignWords([], ["a", "b"])).toEqual([undefined, undefined]);
});

test("never goes back", () => {
  const alone = Array.from({ length: 300 }, (_, index) => [`${index % 7}`.repeat((index % 3) + 1), "x"]);
  const spoken = Array.from({ length: 500 }, (_, index) => `${index % 5}`);
  const words = alignWords(alone, spoken).map((word) => word ?? 0);
  expect(words).toEqual(words.toSorted((one, other) => one - other));
});
