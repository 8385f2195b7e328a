/** The tool `file_search` of a Responses request, its items and citations. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { AttributeFilterBody } from "../openai/attribute-filters.ts";
import { optional } from "../openai/optional.ts";
import { MAX_RESULTS, RankingOptionsBody, type SearchResult } from "../openai/vector-store-search.ts";
import type { Annotation, ServiceItem } from "./item-events.ts";

const MAX_STORES = 10;
const DEFAULT_RESULTS = 10;

export const FileSearchTool = lazy.strictObject(() => ({
  type: z.literal("file_search"),
  vector_store_ids: listOf(z.string().min(1).max(100)).min(1).max(MAX_STORES),
  max_num_results: optional(z.int().min(1).max(MAX_RESULTS)).transform((max) => max ?? DEFAULT_RESULTS),
  filters: optional(AttributeFilterBody),
  ranking_options: optional(RankingOptionsBody),
}));

export const FILE_SEARCH_RESULTS = "file_search_call.results";

/** What a model sends to search. */
export const FILE_SEARCH_PARAMETERS = {
  type: "object",
  properties: {
    queries: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: 5,
      description: "What to search for: one self-contained question or phrase for each aspect.",
    },
  },
  required: ["queries"],
  additionalProperties: false,
};

const Queries = lazy.object(() => ({ queries: z.array(z.string().min(1).max(4000)).min(1).max(16) }));

/** Returns the queries of a call; undefined when its arguments have none. */
export function readQueries(input: Readonly<Record<string, unknown>>): string[] | undefined {
  // Small models write a single text.
  const queries = input.queries ?? input.query;
  const read = Queries.safeParse({ queries: typeof queries === "string" ? [queries] : queries });
  return read.success ? read.data.queries : undefined;
}

export function toFileSearchItem(
  id: string,
  status: string,
  queries: readonly string[],
  results: readonly SearchResult[] | undefined,
): ServiceItem {
  const shown = results?.map(({ fileId, filename, score, attributes, text }) => {
    return { file_id: fileId, filename, score, attributes, text };
  });
  return { id, type: "file_search_call", status, queries, results: shown ?? null };
}

/** A result that the model has read, with the number by which it cites it. */
export interface NumberedSource {
  number: number;
  fileId: string;
  filename: string;
}

const CITATION = /【(\d{1,4})[^】\n]{0,40}】/g;

/** Renders results for the model, with the numbers that citations name. */
export function renderResults(results: readonly SearchResult[], firstNumber: number): string {
  if (results.length === 0) return "No results. Search for something else, or say that the files do not have it.";
  const sources = results.map(({ filename, text }, index) => `【${firstNumber + index}】 ${filename}\n${text}`);
  return `${sources.join("\n\n")}\n\nCite the sources that you use by their numbers in these brackets, such as 【${firstNumber}】, after the sentence that they support.`;
}

/** Returns the citations in an answer's text; `index` is where each one stands. */
export function findCitations(text: string, sources: readonly NumberedSource[]): Annotation[] {
  return [...text.matchAll(CITATION)].flatMap((match) => {
    const source = sources.find(({ number }) => number === Number(match[1]));
    if (source === undefined) return [];
    return [{ type: "file_citation", index: match.index, file_id: source.fileId, filename: source.filename }];
  });
}

/** Text of an earlier search in place of its item, which has results only where the caller asked for them. */
export function textOfFileSearch(results: unknown): string {
  if (!Array.isArray(results)) return "The results of this search are not repeated here. Search again if needed.";
  const read = results as readonly { filename?: unknown; text?: unknown }[];
  return read.map(({ filename, text }) => `${String(filename ?? "")}\n${String(text ?? "")}`).join("\n\n");
}
