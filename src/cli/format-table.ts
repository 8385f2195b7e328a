/** Aligns columns. Removes control characters, so that no cell can move the cursor. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, "")));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => lengthOf(line[column]))));
  return lines
    .map((line) => line.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - lengthOf(cell))))
    .map((cells) => cells.join("  ").trimEnd())
    .join("\n");
}

function lengthOf(cell = ""): number {
  return [...cell].length;
}
