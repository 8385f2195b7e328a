/** Positions of values in a chart. */

/** Round values from 0 to at least `highest`, about `count` of them. */
export function ticksUpTo(highest: number, count = 4): number[] {
  if (!(highest > 0)) return [0, 1];
  const rough = highest / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const length = Math.ceil(highest / step - 1e-9) + 1;
  return Array.from({ length }, (_each, index) => Number((index * step).toPrecision(12)));
}

/** Indexes of at most `max` labels, evenly apart. */
export function labelIndexes(length: number, max: number): number[] {
  const step = Math.max(1, Math.ceil(length / Math.max(1, max)));
  return Array.from({ length: Math.ceil(length / step) }, (_each, index) => index * step);
}

interface Point {
  x: number;
  y: number;
}

/** Runs of points between missing values. */
export function runsOf(
  values: readonly (number | null)[],
  toPoint: (value: number, index: number) => Point,
): Point[][] {
  const runs: Point[][] = [];
  let isOpen = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isOpen = false;
      continue;
    }
    if (!isOpen) runs.push([]);
    runs.at(-1)?.push(toPoint(value, index));
    isOpen = true;
  }
  return runs;
}

/** Path of a line through points; one point becomes a dot. */
export function linePath(points: readonly Point[]): string {
  const [only] = points;
  if (points.length === 1 && only !== undefined) return `M${round(only.x - 1)},${round(only.y)}h2`;
  return `M${points.map(({ x, y }) => `${round(x)},${round(y)}`).join("L")}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
