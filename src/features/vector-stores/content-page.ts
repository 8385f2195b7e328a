import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { queryNumber } from "../../wire/openai/organization/organization-list.ts";
import type { StoreFileContent } from "../../wire/openai/vector-stores.ts";
import type { AnswerOf } from "../../wire/openapi/named.ts";
import type { StoreFiles } from "./store-files.ts";
import type { VectorStoreFileRow } from "./vector-store-rows.ts";

/** OpenAI's clients read the first page only, so it has some 8,000 chunks. */
const SEGMENTS_PER_PAGE = 512;

export const ContentQuery = lazy.looseObject(() => ({
  page: queryNumber(z.int().min(0).max(1_000_000)).default(0).describe("`next_page` of the page before."),
}));

/** Texts of consecutive chunks. Throws a Fault for content that no key decrypts. */
export async function contentPage(
  files: StoreFiles,
  file: VectorStoreFileRow,
  page: number,
): Promise<AnswerOf<typeof StoreFileContent>> {
  // One more segment says whether a further page follows.
  const from = page * SEGMENTS_PER_PAGE;
  const [texts, following] = await Promise.all([
    files.readTexts(file, from, SEGMENTS_PER_PAGE),
    files.readTexts(file, from + SEGMENTS_PER_PAGE, 1),
  ]);
  const hasMore = following.length > 0;
  return {
    object: "vector_store.file_content.page",
    data: texts.map((text) => ({ type: "text", text })),
    has_more: hasMore,
    next_page: hasMore ? String(page + 1) : null,
  };
}
