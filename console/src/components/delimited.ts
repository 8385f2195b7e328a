/** Reads and writes CSV (RFC 4180) and TSV. */

/** Returns the rows of a text; tabs delimit where the first line has some. */
export function parseDelimited(text: string): string[][] {
  const delimiter = text.split("\n", 1)[0]?.includes("\t") ? "\t" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`, "gy");
  for (;;) {
    const match = field.exec(text);
    if (match === null) return rows;
    const [, quoted, plain = "", end] = match;
    const isLast = field.lastIndex >= text.length;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== delimiter) {
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    }
    if (isLast) {
      if (row.length > 0) rows.push([...row, ""]);
      return rows;
    }
  }
}

export function toDelimited(rows: readonly (readonly string[])[]): string {
  const quote = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quote).join(",")).join("\n");
}
