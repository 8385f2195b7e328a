/** Rectangles around the connected regions of a map of probabilities. */

import type { Rectangle } from "./pixels.ts";

export interface ProbabilityMap {
  /** Row by row, 0 to 1. */
  values: Float32Array;
  width: number;
  height: number;
}

/** From this on, a pixel is text. */
const THRESHOLD = 0.3;
/** Mean over a region. */
const MIN_CONFIDENCE = 0.5;
/** In pixels of the map. */
const MIN_SIDE = 3;
const MAX_REGIONS = 3000;
/** The network marks the core of a line: its area over its circumference, times this, is missing on each side. */
const GROWTH = 1.6;

type Point = readonly [x: number, y: number];

/** Returns the smallest rectangle around each region that is probably text. */
export function findRectangles(map: ProbabilityMap): Rectangle[] {
  const seen = new Uint8Array(map.values.length);
  const rectangles: Rectangle[] = [];
  for (let start = 0; start < map.values.length && rectangles.length < MAX_REGIONS; start += 1) {
    if (seen[start] === 1 || (map.values[start] as number) <= THRESHOLD) continue;
    const { edges, confidence } = fill(map, start, seen);
    if (confidence < MIN_CONFIDENCE) continue;
    const rectangle = smallestRectangle(convexHull(edges));
    if (Math.min(rectangle.width, rectangle.height) >= MIN_SIDE) rectangles.push(grown(rectangle));
  }
  return rectangles;
}

/** Marks the region of a pixel, and returns the ends of its rows. */
function fill({ values, width, height }: ProbabilityMap, start: number, seen: Uint8Array) {
  const rows = new Map<number, [left: number, right: number]>();
  const waiting = [start];
  seen[start] = 1;
  let [sum, count] = [0, 0];
  const visit = (x: number, y: number) => {
    const index = y * width + x;
    if (x < 0 || y < 0 || x >= width || y >= height || seen[index] === 1) return;
    if ((values[index] as number) <= THRESHOLD) return;
    seen[index] = 1;
    waiting.push(index);
  };
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const [x, y] = [index % width, Math.floor(index / width)];
    sum += values[index] as number;
    count += 1;
    const ends = rows.get(y);
    if (ends === undefined) rows.set(y, [x, x]);
    else if (x < ends[0]) ends[0] = x;
    else if (x > ends[1]) ends[1] = x;
    for (let near = -1; near <= 1; near += 1) {
      visit(x + near, y - 1);
      visit(x + near, y);
      visit(x + near, y + 1);
    }
  }
  // Corners of pixels, since a pixel is a square and not a point.
  const edges = [...rows].flatMap(([y, [left, right]]): Point[] => [
    [left, y],
    [left, y + 1],
    [right + 1, y],
    [right + 1, y + 1],
  ]);
  return { edges, confidence: sum / count };
}

/** Andrew's monotone chain. */
function convexHull(points: Point[]): Point[] {
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (ordered: readonly Point[]) => {
    const hull: Point[] = [];
    for (const point of ordered) {
      while (hull.length > 1 && turn(hull.at(-2) as Point, hull.at(-1) as Point, point) <= 0) hull.pop();
      hull.push(point);
    }
    hull.pop();
    return hull;
  };
  return [...half(points), ...half(points.toReversed())];
}

function turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

/** The smallest rectangle around a convex polygon has a side along one of the polygon's. */
function smallestRectangle(hull: readonly Point[]): Rectangle {
  let smallest: Rectangle | undefined;
  for (const [index, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(index + 1) % hull.length] as Point;
    const length = Math.hypot(nextX - x, nextY - y);
    const around = rectangleAlong(hull, (nextX - x) / length, (nextY - y) / length);
    if (smallest === undefined || around.width * around.height < smallest.width * smallest.height) smallest = around;
  }
  return smallest as Rectangle;
}

/** The rectangle around points with a side in this direction, turned by right angles until it is within 45° of upright. */
function rectangleAlong(points: readonly Point[], directionX: number, directionY: number): Rectangle {
  let [alongX, alongY] = [directionX, directionY];
  while (alongX < Math.SQRT1_2 - 1e-9) [alongX, alongY] = [-alongY, alongX];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of points) {
    const [along, down] = [x * alongX + y * alongY, y * alongX - x * alongY];
    [left, right] = [Math.min(left, along), Math.max(right, along)];
    [top, bottom] = [Math.min(top, down), Math.max(bottom, down)];
  }
  const [along, down] = [(left + right) / 2, (top + bottom) / 2];
  const [x, y] = [along * alongX - down * alongY, along * alongY + down * alongX];
  return { x, y, alongX, alongY, width: right - left, height: bottom - top };
}

function grown(rectangle: Rectangle): Rectangle {
  const { width, height } = rectangle;
  const margin = (GROWTH * width * height) / (2 * (width + height));
  return { ...rectangle, width: width + 2 * margin, height: height + 2 * margin };
}
