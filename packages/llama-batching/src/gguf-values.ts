/** Values of a GGUF file. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */

export function pair(key: string, type: number | undefined, value: Buffer): Buffer {
  return Buffer.concat([text(key), uint32(type ?? 0), value]);
}

export function text(value: string): Buffer {
  return Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

export function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
