import { expect, test } from "vitest";
import { decodeG711, encodeG711 } from "./g711.ts";

/** Codes and their values on a scale of 16 bits, from the tables of ITU-T G.711. */
const KNOWN = {
  mu: { 0: -32_124, 128: 32_124, 255: 0, 112: -120, 143: 16_764 },
  a: { 213: 8, 85: -8, 170: 32_256, 42: -32_256, 128: 5504 },
} as const;

test.each(["mu", "a"] as const)("decodes known codes of the %s-law", (law) => {
  for (const [code, value] of Object.entries(KNOWN[law])) {
    expect((decodeG711(Uint8Array.of(Number(code)), law)[0] as number) * 32_768).toBe(value);
  }
});

test.each(["mu", "a"] as const)("every code of the %s-law survives a round trip", (law) => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const again = decodeG711(encodeG711(decodeG711(codes, law), law), law);
  expect(again).toEqual(decodeG711(codes, law));
});

test("clips samples beyond full scale", () => {
  expect(decodeG711(encodeG711(Float32Array.of(2, -2), "mu"), "mu")).toEqual(
    Float32Array.of(32_124 / 32_768, -32_124 / 32_768),
  );
});
