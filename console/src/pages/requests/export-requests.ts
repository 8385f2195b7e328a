import { request } from "../../api/request.ts";
import { notifyDone, notifyFailure } from "../../components/notify.tsx";
import { saveFile } from "../../components/save-file.ts";
import { toCsvText } from "../../components/to-csv.ts";
import { t } from "../../i18n/translate.ts";
import type { FilterState } from "./request-filters.ts";
import type { RequestEntry, RequestPage } from "./requests-api.ts";

const COLUMNS = [
  "id",
  "ended_at",
  "project_id",
  "api_key_id",
  "operation",
  "model",
  "answered_by",
  "deployment",
  "status",
  "error",
  "error_message",
  "attempts",
  "queued_ms",
  "loading_ms",
  "first_token_ms",
  "duration_ms",
  "input_tokens",
  "input_cached_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache",
  "cost_usd",
] as const satisfies (keyof RequestEntry)[];

/** More would take a browser's memory; the API has the rest. */
const MAX_ROWS = 10_000;

/** Downloads the newest requests of a list, at most 10,000. */
export async function exportRequests({ path, query }: FilterState["list"]): Promise<void> {
  try {
    const rows: RequestEntry[] = [];
    let page: string | undefined;
    do {
      const answer: RequestPage = await request(path, { query: { ...query, limit: 100, page } });
      rows.push(...answer.data);
      page = answer.next_page ?? undefined;
    } while (page !== undefined && rows.length < MAX_ROWS);
    const lines = rows.map((row) =>
      COLUMNS.map((column) => (column === "ended_at" ? new Date(1000 * row.ended_at).toISOString() : row[column])),
    );
    saveFile("parlance-requests.csv", toCsvText([COLUMNS, ...lines]), "text/csv");
    if (page !== undefined) notifyDone(t("The file has the newest 10,000 requests. Narrow the time to get others."));
  } catch (failure) {
    notifyFailure(failure);
  }
}
