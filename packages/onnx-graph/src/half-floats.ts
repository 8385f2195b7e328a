/** Float values of 16-bit weights. */

import type { ElementType } from "./onnx-graph-builder.ts";

/** The float32 value of a float16's bits. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? sign * Infinity : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Values of all float16 bit patterns, since a look-up takes a tenth of the time of `fromHalf`. */
let halves: Float32Array | undefined;

/** Reads little-endian values of `type` from `bytes` into a new array. */
export function toFloats(bytes: Uint8Array, type: Exclude<ElementType, "int8">): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  if (type === "float32") return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  const source = new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2);
  if (type === "bfloat16") {
    const bits = Uint32Array.from(source, (value) => value << 16);
    return new Float32Array(bits.buffer);
  }
  halves ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => fromHalf(bits));
  const values = new Float32Array(source.length);
  for (let index = 0; index < values.length; index += 1) values[index] = halves[source[index] as number] as number;
  return values;
}
