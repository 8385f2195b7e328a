import fc from "fast-check";
import { expect, test } from "vitest";
import { byteLength, chunksText, joinChunks, mergeSmallChunks, sliceChunks } from "./chunks.ts";

const chunks = fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 8 });

test("slices and joins chunks like one buffer", () => {
  const property = fc.property(chunks, fc.nat({ max: 100 }), fc.nat({ max: 100 }), (parts, start, end) => {
    const whole = Buffer.concat(parts);
    expect(joinChunks(parts)).toEqual(whole);
    expect(byteLength(parts)).toBe(whole.length);
    expect(Buffer.concat(sliceChunks(parts, start, end))).toEqual(Buffer.from(whole.subarray(start, end)));
    expect(chunksText(parts, start, end)).toBe(whole.toString("utf8", start, Math.max(start, end)));
  });
  fc.assert(property);
});

test("merges neighbors below a size, and keeps their order", () => {
  const property = fc.property(chunks, fc.nat({ max: 12 }), (parts, minBytes) => {
    const merged = mergeSmallChunks(parts, minBytes);
    expect(Buffer.concat(merged)).toEqual(Buffer.concat(parts));
    expect(merged.filter((part) => part.length >= minBytes).length).toBeGreaterThanOrEqual(
      parts.filter((part) => part.length >= minBytes).length,
    );
  });
  fc.assert(property);
  const [a, b, c] = [Buffer.from("ab"), Buffer.from("c"), Buffer.alloc(50, "x")];
  expect(mergeSmallChunks([a, b, c, a], 10).map(String)).toEqual(["abc", "x".repeat(50), "ab"]);
  expect(mergeSmallChunks([a, b, c, a], 10)[1]).toBe(c);
});
