/** The order in which a person reads the lines of a page. */

import type { Line } from "./line-recognizer.ts";

/** In heights of a line: columns are this far apart. */
const COLUMN_GAP = 1.2;
/** In heights of a line: paragraphs are this far apart. */
const PARAGRAPH_GAP = 0.9;

interface Span {
  from: number;
  to: number;
}

/** Joins lines to a text, column by column, with an empty line between paragraphs. */
export function textInOrder(lines: readonly Line[]): string {
  if (lines.length === 0) return "";
  const height = median(lines.map(across));
  const blocks = columnsOf(lines, height);
  return blocks.map((block) => textOfBlock(block, height)).join("\n\n");
}

/**
 * Recursive XY cut: parts a page at its empty strips, which must be wide where they stand upright. A page without one is
 * one block. Upright strips come first, since columns are read one after the other.
 */
function columnsOf(lines: readonly Line[], height: number): (readonly Line[])[] {
  const upright = apart(lines, horizontal, COLUMN_GAP * height);
  if (upright.length > 1 && upright.every((column) => column.length > 1)) {
    return upright.flatMap((column) => columnsOf(column, height));
  }
  const bands = apart(lines, vertical, PARAGRAPH_GAP * height);
  return bands.length === 1 ? [lines] : bands.flatMap((band) => columnsOf(band, height));
}

/** Groups lines that are less than `gap` apart in one direction. */
function apart(lines: readonly Line[], span: (line: Line) => Span, gap: number): Line[][] {
  const groups: { lines: Line[]; to: number }[] = [];
  for (const line of lines.toSorted((a, b) => span(a).from - span(b).from)) {
    const group = groups.at(-1);
    const { from, to } = span(line);
    if (group === undefined || from - group.to > gap) groups.push({ lines: [line], to });
    else {
      group.lines.push(line);
      group.to = Math.max(group.to, to);
    }
  }
  return groups.map((group) => group.lines);
}

/** Pieces of a row, which overlap in height by half, from left to right. */
function textOfBlock(lines: readonly Line[], height: number): string {
  const rows: Line[][] = [];
  for (const line of lines.toSorted((a, b) => a.y - b.y)) {
    const row = rows.at(-1);
    if (row?.[0] !== undefined && line.y - row[0].y < height / 2) row.push(line);
    else rows.push([line]);
  }
  return rows
    .map((row) =>
      row
        .toSorted((a, b) => a.x - b.x)
        .map(({ text }) => text)
        .join(" "),
    )
    .join("\n");
}

/** Half the sides of the upright rectangle around a line. */
function reach({ alongX, alongY, width, height }: Line): { x: number; y: number } {
  const [x, y] = [Math.abs(alongX), Math.abs(alongY)];
  return { x: (x * width + y * height) / 2, y: (y * width + x * height) / 2 };
}

function horizontal(line: Line): Span {
  return { from: line.x - reach(line).x, to: line.x + reach(line).x };
}

function vertical(line: Line): Span {
  return { from: line.y - reach(line).y, to: line.y + reach(line).y };
}

/** Height of the letters. */
function across({ width, height }: Line): number {
  return Math.min(width, height);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
