/** Exports and erasures of what is stored of a person. */

import type { AnswerOf } from "../../openapi/named.ts";
import type { Erasure as ErasureAnswer } from "../../openapi/people-answers.ts";

interface ExportedRow {
  table: string;
  row: object;
}

/** Lines between which the export lets other requests run. */
const LINES_AT_ONCE = 200;

/**
 * Writes an export as JSON Lines: a line for each row, with its table, and at the end one that counts them: an export
 * without it is incomplete. Times are ISO 8601.
 */
export async function* toExportLines(rows: AsyncIterable<ExportedRow>, now: number): AsyncGenerator<Buffer> {
  let lines = `${JSON.stringify({ record: "export", created_at: new Date(now).toISOString() })}\n`;
  let count = 0;
  for await (const { table, row } of rows) {
    lines += `${JSON.stringify({ record: toSnakeCase(table), ...toFields(row) })}\n`;
    count += 1;
    if (count % LINES_AT_ONCE !== 0) continue;
    yield Buffer.from(lines);
    lines = "";
  }
  yield Buffer.from(`${lines}${JSON.stringify({ record: "end", rows: count })}\n`);
}

export function toErasure({
  pseudonym,
  rows,
}: {
  pseudonym: string;
  rows: Readonly<Record<string, number>>;
}): AnswerOf<typeof ErasureAnswer> {
  const counts = Object.fromEntries(Object.entries(rows).map(([table, count]) => [toSnakeCase(table), count]));
  return { object: "organization.user.erasure", erased: true, pseudonym, rows: counts };
}

function toFields(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [toSnakeCase(name), toValue(name, value)]));
}

function toValue(name: string, value: unknown): unknown {
  if ((name === "at" || name.endsWith("At")) && typeof value === "number") return new Date(value).toISOString();
  return Buffer.isBuffer(value) ? value.toString("base64") : value;
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
