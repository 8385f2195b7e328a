import type { z } from "zod";
import type { ChunkingBody } from "../../wire/openai/vector-stores.ts";
import type { ChunkSizes } from "./store-files.ts";

/** Sizes of `auto`, as OpenAI's; decision 0072 compares them with smaller ones. */
const AUTO: ChunkSizes = { maxTokens: 800, overlapTokens: 400 };

export function chunkSizesOf(chunking: z.output<typeof ChunkingBody> | undefined): ChunkSizes {
  if (chunking === undefined || chunking.type === "auto") return AUTO;
  const { max_chunk_size_tokens: maxTokens, chunk_overlap_tokens: overlapTokens } = chunking.static;
  return { maxTokens, overlapTokens };
}
