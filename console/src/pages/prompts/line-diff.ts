/** Differences of two texts, line by line. */

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Texts with more pairs of different lines are compared as a whole. */
const MAX_PAIRS = 4_000_000;

/** Returns the lines of both texts, with the longest common subsequence as `same`. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...toLines("same", before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...toLines("same", before.slice(before.length - end)),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const [rows, columns] = [before.length, after.length];
  if (rows * columns > MAX_PAIRS) return [...toLines("removed", before), ...toLines("added", after)];
  const commonFrom = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (before[row] === after[column]) {
      lines.push({ kind: "same", text: before[row] as string });
      row += 1;
      column += 1;
    } else if (commonFrom(row + 1, column) >= commonFrom(row, column + 1)) {
      lines.push({ kind: "removed", text: before[row] as string });
      row += 1;
    } else {
      lines.push({ kind: "added", text: after[column] as string });
      column += 1;
    }
  }
  return [...lines, ...toLines("removed", before.slice(row)), ...toLines("added", after.slice(column))];
}

/** Returns the number of common lines from a line of each text on. */
function commonLengths(before: readonly string[], after: readonly string[]): (row: number, column: number) => number {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const isSame = before[row] === after[column];
      const length = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      (lengths[row] as Uint32Array)[column] = length;
    }
  }
  return at;
}

function toLines(kind: DiffLine["kind"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}
