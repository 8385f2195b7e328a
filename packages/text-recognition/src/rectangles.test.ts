import { expect, test } from "vitest";
import { findRectangles } from "./rectangles.ts";

const [WIDTH, HEIGHT] = [200, 100];

/** A map with a probability where a condition holds. */
function mapOf(isText: (x: number, y: number) => boolean, probability = 0.9) {
  const at = (index: number) => (isText(index % WIDTH, Math.floor(index / WIDTH)) ? probability : 0.05);
  return {
    values: Float32Array.from({ length: WIDTH * HEIGHT }, (_value, index) => at(index)),
    width: WIDTH,
    height: HEIGHT,
  };
}

test("returns a rectangle for each region, wider by what the network leaves out", () => {
  const isFirst = (x: number, y: number) => x >= 20 && x < 120 && y >= 10 && y < 20;
  const isSecond = (x: number, y: number) => x >= 20 && x < 60 && y >= 50 && y < 60;
  const found = findRectangles(mapOf((x, y) => isFirst(x, y) || isSecond(x, y)));
  // 1.6 · 100 · 10 / 220 pixels on each side.
  expect(found[0]).toMatchObject({ x: 70, y: 15, alongX: 1 });
  expect(found[0]?.width).toBeCloseTo(100 + 2 * 7.27, 1);
  expect(found[0]?.height).toBeCloseTo(10 + 2 * 7.27, 1);
  expect(found[1]).toMatchObject({ x: 40, y: 55 });
  expect(found).toHaveLength(2);
});

test.each([-30, -10, 10, 30])("follows a line that slopes by %s°", (degrees) => {
  const [alongX, alongY] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const isText = (x: number, y: number) => {
    const [right, down] = [x - 100, y - 50];
    return Math.abs(right * alongX + down * alongY) < 60 && Math.abs(down * alongX - right * alongY) < 6;
  };
  const [found] = findRectangles(mapOf(isText));
  expect(found?.alongX).toBeCloseTo(alongX, 1);
  expect(found?.alongY).toBeCloseTo(alongY, 1);
  expect(found?.x).toBeCloseTo(100, -0.5);
  expect(found?.y).toBeCloseTo(50, -0.5);
});

test.each([
  ["an empty map", mapOf(() => false)],
  ["what is hardly text", mapOf((x, y) => x < 50 && y < 20, 0.4)],
  ["specks", mapOf((x, y) => x % 20 < 2 && y % 20 < 2)],
])("finds nothing in %s", (_name, map) => {
  expect(findRectangles(map)).toEqual([]);
});

test("fills a map that is one region", () => {
  expect(findRectangles(mapOf(() => true))).toHaveLength(1);
});
