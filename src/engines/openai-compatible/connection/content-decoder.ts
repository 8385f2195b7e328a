import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Creates the decoder for a `content-encoding`; undefined without one. Throws when Node does not support it. */
export function createDecoder(encoding: string | undefined): Transform | undefined {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity") return undefined;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create === undefined) throw new Error(`content-encoding "${name}" is not known`);
  return create();
}
