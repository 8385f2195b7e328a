import type { UsageRow } from "./usage-query.ts";

const COLUMNS = [
  "time",
  "group",
  "requests",
  "inputTokens",
  "outputTokens",
  "audioSeconds",
  "characters",
  "cost",
] as const satisfies (keyof UsageRow)[];

export function downloadCsv(name: string, rows: readonly UsageRow[]): void {
  const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function toCsv(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) =>
    COLUMNS.map((column) => (column === "time" ? new Date(row.time * 1000).toISOString() : quote(row[column]))).join(
      ",",
    ),
  );
  return `${[COLUMNS.join(","), ...lines].join("\r\n")}\r\n`;
}

/** Quotes as in RFC 4180. A text that begins like a formula gets an apostrophe, since spreadsheets would run it. */
function quote(value: number | string): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
