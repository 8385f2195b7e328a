import { saveFile } from "../../components/save-file.ts";
import { toCsvText } from "../../components/to-csv.ts";
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
  saveFile(name, toCsv(rows), "text/csv");
}

export function toCsv(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) =>
    COLUMNS.map((column) => (column === "time" ? new Date(row.time * 1000).toISOString() : row[column])),
  );
  return toCsvText([COLUMNS, ...lines]);
}
