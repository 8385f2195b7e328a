type Cell = string | number | null;

/** Renders rows as CSV (RFC 4180). */
export function toCsvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(quote).join(",")}\r\n`).join("");
}

/** A text that begins like a formula gets an apostrophe, since spreadsheets would run it. */
function quote(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
