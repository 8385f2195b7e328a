import { expect, test } from "vitest";
import { toFloats } from "./half-floats.ts";

test.each([
  ["float32", [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0], [1.5, -2]],
  ["float16", [0, 0x3e, 0, 0xc0, 1, 0, 0, 0x7c], [1.5, -2, 2 ** -24, Infinity]],
  ["bfloat16", [0xc0, 0x3f, 0, 0xc0], [1.5, -2]],
] as const)("reads %s, also at odd addresses", (type, bytes, values) => {
  expect([...toFloats(Uint8Array.from(bytes), type)]).toEqual(values);
  expect([...toFloats(Uint8Array.from([9, ...bytes]).subarray(1), type)]).toEqual(values);
});
