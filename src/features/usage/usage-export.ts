/** Writes usage and costs as a flat table, one row for each bucket and group. */

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { invalidRequest } from "../../kernel/faults.ts";
import { inDollars } from "../../kernel/nano-dollars.ts";
import type { ReportRequest, UsageReports } from "./usage-report.ts";
import type { UsageSum } from "./usage-report-queries.ts";

/** Rows that one export may have: they are in memory, some 100 MB. */
const MAX_ROWS = 200_000;
/** Buckets of one query of the reports. */
const BUCKETS_AT_ONCE = 31;
const ROWS_AT_ONCE = 5_000;

type Value = string | number | boolean | bigint | Date | null;

interface Column {
  name: string;
  type: "STRING" | "INT64" | "DOUBLE" | "BOOLEAN" | "TIMESTAMP";
  read: (row: Row) => Value;
}

interface Row extends UsageSum {
  endsAt: number;
}

export type ExportRequest = Omit<ReportRequest, "maxBuckets">;

/** Reads all rows of a range. Throws a Fault when there are too many. */
export async function exportRows(reports: UsageReports, request: ExportRequest): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from: number | undefined = request.from; from !== undefined; ) {
    const { buckets, next } = await reports.read({ ...request, from, maxBuckets: BUCKETS_AT_ONCE });
    for (const { endsAt, sums } of buckets) for (const sum of sums) rows.push({ ...sum, endsAt });
    if (rows.length > MAX_ROWS) throw tooManyRows();
    from = next;
  }
  return rows;
}

function tooManyRows() {
  const message = `The export has more than ${MAX_ROWS} rows. Choose a shorter time, a wider 'bucket_width' or fewer groups.`;
  return invalidRequest(message, "end_time", "invalid_value");
}

/** Columns of the groups that were requested, then of the amounts, exact to a billionth of a dollar. */
export function exportColumns({ groupBy, labelKind }: Pick<ExportRequest, "groupBy" | "labelKind">): Column[] {
  const groups: Readonly<Record<ExportRequest["groupBy"][number], Column>> = {
    projectId: { name: "project_id", type: "STRING", read: ({ projectId }) => projectId ?? "" },
    keyId: { name: "api_key_id", type: "STRING", read: ({ keyId }) => keyId ?? "" },
    model: { name: "model", type: "STRING", read: ({ model }) => model ?? "" },
    deployment: { name: "deployment", type: "STRING", read: ({ deployment }) => deployment ?? "" },
    operation: { name: "operation", type: "STRING", read: ({ operation }) => operation ?? "" },
    serviceTier: { name: "service_tier", type: "STRING", read: ({ serviceTier }) => serviceTier ?? "default" },
    isBatch: { name: "batch", type: "BOOLEAN", read: ({ isBatch }) => isBatch === 1 },
    userId: { name: "user_id", type: "STRING", read: ({ userId }) => userId ?? "" },
    apiSource: { name: "api_source", type: "STRING", read: ({ apiSource }) => apiSource ?? "" },
    imageSource: { name: "source", type: "STRING", read: ({ imageSource }) => imageSource ?? "" },
    imageSize: { name: "size", type: "STRING", read: ({ imageSize }) => imageSize ?? "" },
    label: { name: labelKind ?? "label", type: "STRING", read: ({ label }) => label ?? "" },
  };
  return [
    { name: "start_time", type: "TIMESTAMP", read: ({ beginsAt }) => new Date(beginsAt) },
    { name: "end_time", type: "TIMESTAMP", read: ({ endsAt }) => new Date(endsAt) },
    ...groupBy.map((group) => groups[group]),
    count("requests", ({ requests }) => requests),
    count("input_tokens", ({ promptTokens }) => promptTokens),
    count("input_cached_tokens", ({ cachedTokens }) => cachedTokens),
    count("input_cache_write_tokens", ({ cacheWriteTokens }) => cacheWriteTokens),
    count("input_audio_tokens", ({ inputAudioTokens }) => inputAudioTokens),
    count("output_tokens", ({ completionTokens }) => completionTokens),
    count("output_reasoning_tokens", ({ reasoningTokens }) => reasoningTokens),
    count("output_audio_tokens", ({ outputAudioTokens }) => outputAudioTokens),
    count("tool_calls", ({ toolCalls }) => toolCalls),
    count("images", ({ images }) => images),
    count("stored_byte_hours", ({ storedByteHours }) => storedByteHours),
    count("characters", ({ characters }) => characters),
    { name: "audio_seconds", type: "DOUBLE", read: ({ audioMilliseconds }) => audioMilliseconds / 1000 },
    count("cost_nano_usd", ({ costNanoDollars }) => costNanoDollars),
    dollars("cost_usd", ({ costNanoDollars }) => costNanoDollars),
    dollars("reported_cost_usd", ({ reportedCostNanoDollars }) => reportedCostNanoDollars),
    dollars("compared_cost_usd", ({ comparedCostNanoDollars }) => comparedCostNanoDollars),
  ];
}

function count(name: string, read: (row: Row) => number | null): Column {
  const toInteger = (value: number | null) => (value === null ? null : BigInt(value));
  return { name, type: "INT64", read: (row) => toInteger(read(row)) };
}

function dollars(name: string, read: (row: Row) => number | null): Column {
  return { name, type: "DOUBLE", read: (row) => inDollars(read(row)) };
}

/** Yields CSV as in RFC 4180, some thousand rows at a time. */
export async function* toCsv(rows: readonly Row[], columns: readonly Column[]): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => name).join()}\r\n`;
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    let text = "";
    for (const row of rows.slice(start, start + ROWS_AT_ONCE))
      text += `${columns.map(({ read }) => toCell(read(row))).join()}\r\n`;
    yield text;
    await yieldToEventLoop();
  }
}

/** Spreadsheets run text that begins like a formula, and callers choose tags and end users. */
function toCell(value: Value): string {
  if (value === null) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes a Parquet file. Loads the writer only here. */
export async function toParquet(rows: readonly Row[], columns: readonly Column[]): Promise<Buffer> {
  const { ByteWriter, parquetWrite } = await import("hyparquet-writer");
  // Awaited after each group of rows, so that other requests do not wait for the entire file.
  const writer = Object.assign(new ByteWriter(), { flush: () => yieldToEventLoop() });
  const columnData = columns.map(({ name, type, read }) => ({ name, type, data: rows.map(read), nullable: true }));
  await parquetWrite({ writer, columnData, rowGroupSize: ROWS_AT_ONCE });
  return Buffer.from(writer.getBuffer());
}
