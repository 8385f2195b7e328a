/** Names and terms that recordings of a project have in them. Not in OpenAI's API. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { named } from "../../openapi/named.ts";

const MAX_KEYWORDS = 50;
/** Whisper reads 223 tokens of a prompt. */
const MAX_BYTES = 450;

const Keyword = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u);

export const TranscriptionKeywordSettings = z.array(Keyword);

export const TranscriptionKeywordsBody = named(
  "TranscriptionKeywordsBody",
  lazy.strictObject(() => ({
    data: listOf(Keyword)
      .max(MAX_KEYWORDS)
      .refine((keywords) => keywords.length > MAX_KEYWORDS || Buffer.byteLength(keywords.join(", ")) <= MAX_BYTES, {
        error: `its keywords have more than ${MAX_BYTES} bytes together`,
      })
      .describe("All keywords, in place of those before; an empty list: none."),
  })),
);

export const TranscriptionKeywords = named(
  "TranscriptionKeywords",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(z.string()) })),
);
