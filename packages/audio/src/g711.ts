/** G.711, the companded formats of telephony: one byte for each sample, at 8 kHz. */

const MU_BIAS = 0x84;
const MU_CLIP = 32_635;
const FULL_SCALE = 32_768;

/** Companding law: μ-law in North America and Japan, A-law elsewhere. */
export type G711Law = "mu" | "a";

const DECODED = { mu: Float32Array.from({ length: 256 }, decodeMu), a: Float32Array.from({ length: 256 }, decodeA) };

/** Returns samples, -1 to 1. */
export function decodeG711(bytes: Uint8Array, law: G711Law): Float32Array {
  const table = DECODED[law];
  return Float32Array.from(bytes, (byte) => table[byte] as number);
}

/** Encodes samples (-1 to 1); clips louder ones. */
export function encodeG711(samples: Float32Array, law: G711Law): Uint8Array {
  const encode = law === "mu" ? encodeMu : encodeA;
  return Uint8Array.from(samples, (sample) => encode(Math.round(Math.max(-1, Math.min(1, sample)) * (FULL_SCALE - 1))));
}

function decodeMu(_: unknown, byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = (((code & 0x0f) << 3) + MU_BIAS) << ((code & 0x70) >> 4);
  return (code & 0x80 ? MU_BIAS - magnitude : magnitude - MU_BIAS) / FULL_SCALE;
}

function encodeMu(value: number): number {
  const magnitude = Math.min(Math.abs(value), MU_CLIP) + MU_BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  const code = (value < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f);
  return ~code & 0xff;
}

function decodeA(_: unknown, byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code & 0x70) >> 4;
  const mantissa = (code & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return (code & 0x80 ? magnitude : -magnitude) / FULL_SCALE;
}

function encodeA(value: number): number {
  const sign = value >= 0 ? 0x80 : 0;
  const magnitude = value >= 0 ? value : -value - 1;
  const exponent = Math.max(0, 24 - Math.clz32(magnitude));
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}
