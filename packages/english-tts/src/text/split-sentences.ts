/** Splits text into sentences, which are synthesized one at a time. */

import { conventionsOf } from "./text-conventions.ts";

const words = new Intl.Segmenter("en", { granularity: "word" });
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Returns non-empty sentences of at most `maxCharacters`, except for a single longer grapheme. */
export function splitSentences(text: string, maxCharacters: number, language = "en"): string[] {
  const sentences = new Intl.Segmenter(language, { granularity: "sentence" });
  // Initials of names end no sentence either.
  const abbreviation = new RegExp(`(?:^|[\\s(])(?:\\p{Lu}|${conventionsOf(language).abbreviations})\\.\\s*$`, "u");
  return text
    .split("\n")
    .flatMap((paragraph) =>
      joinAbbreviations(segments(sentences, paragraph), abbreviation).flatMap((each) => cut(each, maxCharacters)),
    );
}

function joinAbbreviations(sentences: readonly string[], abbreviation: RegExp): string[] {
  const joined: string[] = [];
  let previous = "";
  for (const segment of sentences) {
    const before = joined.at(-1);
    if (before !== undefined && abbreviation.test(previous)) joined[joined.length - 1] = before + segment;
    else joined.push(segment);
    previous = segment;
  }
  return joined.map((each) => each.trim()).filter((each) => each !== "");
}

/** Cuts at the end of a clause if there is one, else between words, else between characters. */
function cut(sentence: string, max: number): string[] {
  if (sentence.length <= max) return [sentence];
  const clauses = sentence.split(/(?<=[,;:—、，；：)\]])(?=[\s\p{Lo}])|(?<=\s)(?=[–—(])/u);
  const parts = clauses.length > 1 ? clauses : segments(words, sentence);
  return pack(
    parts.flatMap((part) => {
      if (part.length <= max) return [part];
      return clauses.length > 1 ? cut(part, max) : segments(characters, part);
    }),
    max,
  );
}

function segments(segmenter: Intl.Segmenter, text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Joins consecutive parts into as few pieces as possible. */
function pack(parts: readonly string[], max: number): string[] {
  const packed: string[] = [];
  let current = "";
  for (const part of parts) {
    if (current !== "" && current.length + part.length > max) {
      packed.push(current);
      current = "";
    }
    current += part;
  }
  packed.push(current);
  return packed.map((each) => each.trim()).filter((each) => each !== "");
}
