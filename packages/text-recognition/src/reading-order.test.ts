import { expect, test } from "vitest";
import { textInOrder } from "./reading-order.ts";

const line = (text: string, left: number, top: number, width: number) => ({
  ...{ text, confidence: 1, alongX: 1, alongY: 0 },
  ...{ x: left + width / 2, y: top + 10, width, height: 20 },
});

test("reads a column from top to bottom, with its paragraphs", () => {
  const lines = [line("third", 0, 90, 300), line("first", 0, 0, 400), line("second", 0, 24, 380)];
  expect(textInOrder(lines)).toBe("first\nsecond\n\nthird");
});

test("reads two columns one after the other, below their heading", () => {
  const lines = [
    line("heading", 0, 0, 640),
    ...["a1", "a2", "a3"].map((text, index) => line(text, 0, 60 + 24 * index, 300)),
    ...["b1", "b2", "b3"].map((text, index) => line(text, 340, 60 + 24 * index, 300)),
  ];
  expect(textInOrder(lines.toReversed())).toBe("heading\n\na1\na2\na3\n\nb1\nb2\nb3");
});

test("joins the pieces of a row from left to right", () => {
  const lines = [line("12.00", 80, 2, 60), line("Boat", 0, 0, 60), line("Oars", 0, 24, 60), line("3.50", 80, 25, 60)];
  expect(textInOrder(lines)).toBe("Boat 12.00\nOars 3.50");
});

test("has nothing to say without lines", () => {
  expect(textInOrder([])).toBe("");
});
