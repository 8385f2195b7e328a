/** The linear head of `foreign-scorer.ts`, apart from it: the catalog reads its languages without the encoder's libraries. */

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";

const HEAD_FILE = new URL("../../../assets/moderation/foreign-head.json", import.meta.url);

const ForeignHead = lazy.object(() => ({
  /** ISO 639-1 codes of the languages with training or test text. */
  languages: z.array(z.string()),
  /** Layers of the encoder, counted from 1, whose pooled outputs are the features. */
  layers: z.array(z.int()),
  /** Little-endian float32, [features, categories], in Base64. */
  weights: z.base64(),
  bias: z.array(z.number()),
}));

export type ForeignHead = z.infer<typeof ForeignHead>;

/** Reads the head from the package's assets. */
export async function readForeignHead(): Promise<ForeignHead> {
  return ForeignHead.parse(JSON.parse(await readFile(HEAD_FILE, "utf8")));
}
