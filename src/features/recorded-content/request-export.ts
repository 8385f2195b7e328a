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

/** Requests whose feedback is read at once. */
const REQUESTS_AT_ONCE = 50;

/** Yields lines of requests that the filter matches. Throws a Fault for a query without words. */
export function exportRequests(
  recorded: RecordedContents,
  feedbacks: RequestFeedbacks,
  filter: RequestFilter,
  { format, min_score: minScore, query }: ExportOptions,
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
    for await (const content of recorded.read(filter, "asc", undefined, search)) {
      if (search?.matches(content) === false) continue;
      batch.push(content);
      if (batch.length < REQUESTS_AT_ONCE) continue;
      yield await linesOf(batch);
      batch = [];
    }
    yield await linesOf(batch);
  })();
}
