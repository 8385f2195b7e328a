import { expect, test } from "vitest";
import { cutOut, writePlanes } from "./pixels.ts";

/** Red grows to the right, green downward. */
const image = {
  data: Uint8Array.from({ length: 20 * 10 * 3 }, (_value, index) => {
    const pixel = Math.floor(index / 3);
    return [10 * (pixel % 20), 20 * Math.floor(pixel / 20), 7][index % 3] as number;
  }),
  width: 20,
  height: 10,
};

test("cuts out an upright piece as it is", () => {
  const piece = cutOut(image, { x: 6, y: 4, alongX: 1, alongY: 0, width: 4, height: 2 }, 4, 2);
  expect([...piece.data.subarray(0, 6)]).toEqual([40, 60, 7, 50, 60, 7]);
});

test("turns a piece that runs downward", () => {
  const piece = cutOut(image, { x: 6, y: 4, alongX: 0, alongY: 1, width: 4, height: 2 }, 4, 2);
  // Its first row goes down the image's right side.
  expect([...piece.data.subarray(0, 6)]).toEqual([60, 40, 7, 60, 60, 7]);
});

test("goes on beyond the edges as at the edge", () => {
  const piece = cutOut(image, { x: 0, y: 0, alongX: 1, alongY: 0, width: 4, height: 2 }, 4, 2);
  expect([...piece.data.subarray(0, 3)]).toEqual([0, 0, 7]);
});

test("writes planes of blue, green and red from -1 to 1", () => {
  const tensor = new Float32Array(6);
  writePlanes({ data: Uint8Array.of(255, 0, 0, 0, 255, 255), width: 2, height: 1 }, tensor);
  expect([...tensor]).toEqual([-1, 1, -1, 1, 1, -1]);
});
