import type { z } from "zod";
import type { ChunkingBody } from "../../wire/openai/vector-stores.ts";
import type { ChunkSizes } from "./store-files.ts";

/** Sizes of `auto`: about two windows of the default embedding model; measured in decision 0072. */
const AUTO: ChunkSizes = { maxTokens: 400, overlapTokens: 100 };

export function chunkSizesOf(chunking: z.output<typeof ChunkingBody> | undefined): ChunkSizes {
  if (chunking === undefined || chunking.type === "auto") return AUTO;
  const { max_chunk_size_tokens: maxTokens, chunk_overlap_tokens: overlapTokens } = chunking.static;
  return { maxTokens, overlapTokens };
}
