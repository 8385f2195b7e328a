/** How a project's words are spoken. Not in OpenAI's API. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { repeatedIndex } from "../../../kernel/repeated-index.ts";
import { named } from "../../openapi/named.ts";

const MAX_WORDS = 500;
const NUL = /^[^\0]*$/;

const Pronunciation = lazy.strictObject(() => ({
  text: z.string().trim().min(1).max(100).regex(NUL).describe("As it is written: a word or a few, in any case."),
  spoken: z.string().trim().min(1).max(200).regex(NUL).describe("What is read in its place."),
}));

export const PronunciationSettings = z.array(Pronunciation);
export type PronunciationSettings = readonly z.output<typeof Pronunciation>[];

export const PronunciationsBody = named(
  "PronunciationsBody",
  lazy.strictObject(() => ({
    data: listOf(Pronunciation)
      .max(MAX_WORDS)
      .check(({ value, issues }) => {
        const texts = value.map(({ text }) => text.toLowerCase());
        // In time that grows with the list: one that is too long comes here, too.
        const index = repeatedIndex(texts);
        if (index === -1) return;
        const message = "another entry has this text too";
        issues.push({ code: "custom", path: [index, "text"], input: texts[index], message });
      })
      .describe("All words, in place of those before; an empty list: texts are read as they are."),
  })),
);

export const Pronunciations = named(
  "Pronunciations",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(z.object({ text: z.string(), spoken: z.string() })),
  })),
);
