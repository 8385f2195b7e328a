/** Recorded requests as JSON Lines, oldest first. */

import type { z } from "zod";
import {
  type RequestExportQuery,
  scoreOf,
  toEvalLine,
  toFineTuningLine,
} from "../../wire/openai/organization/request-export.ts";
import type { RequestFilter } from "../usage/index.ts";
import type { RecordedContents } from "./recorded-contents.ts";
import type { RequestFeedbacks } from "./request-feedback.ts";
import type { StoredContent } from "./sealed-content.ts";
import { parseSearch } from "./search.ts";

export type ExportOptions = Pick<z.output<typeof RequestExportQuery>, "format" | "min_score" | "query">;

/** Requests whose feedback is read at once, of which all lines are in memory. */
const REQUESTS_AT_ONCE = 50;
const BYTES_AT_ONCE = 1_000_000;

/** Yields lines of requests that the filter matches, until the signal aborts. Throws a Fault for a query without words. */
export function exportRequests(
  recorded: RecordedContents,
  feedbacks: RequestFeedbacks,
  filter: RequestFilter,
  { format, min_score: minScore, query }: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const search = query === undefined ? undefined : parseSearch(query);
  const linesOf = async (contents: readonly StoredContent[]) => {
    const ids = contents.map(({ entry }) => entry.id);
    const all = Map.groupBy(await feedbacks.list(filter.organizationId, ids), ({ requestId }) => requestId);
    const lines = contents.flatMap((content) => {
      const feedback = all.get(content.entry.id) ?? [];
      if (minScore !== undefined && (scoreOf(feedback) ?? -1) < minScore) return [];
      return (format === "evals" ? toEvalLine(content, feedback) : toFineTuningLine(content)) ?? [];
    });
    return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  return (async function* () {
    let batch: StoredContent[] = [];
    let bytes = 0;
    for await (const content of recorded.read(filter, { order: "asc", search, signal })) {
      if (search?.matches(content) === false) continue;
      batch.push(content);
      bytes += content.bytes;
      if (batch.length < REQUESTS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
      yield await linesOf(batch);
      batch = [];
      bytes = 0;
    }
    yield await linesOf(batch);
  })();
}
