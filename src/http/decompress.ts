/** Decompresses request bodies before they are parsed; the size limit counts decompressed bytes. */

import { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { FastifyInstance, RequestPayload } from "fastify";
import { Fault, invalidRequest } from "../kernel/faults.ts";

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Decompresses bodies by their `Content-Encoding`: 415 for an unsupported encoding, 413 beyond `maxBodyBytes`. */
export function decompressBodies(app: FastifyInstance, maxBodyBytes: number): void {
  app.addHook("preParsing", (request, _reply, payload, done) => {
    const encoding = request.headers["content-encoding"]?.trim().toLowerCase();
    if (encoding === undefined || encoding === "" || encoding === "identity") return done(null, payload);
    const create = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined;
    if (create === undefined) return done(unsupported(encoding));
    if (request.headers["content-type"]?.startsWith("multipart/")) return done(compressedUpload());
    // Content-Length is the compressed length; the parser reads the decompressed body.
    delete request.headers["content-length"];
    done(null, decompress(payload, create(), maxBodyBytes));
  });
}

function decompress(compressed: RequestPayload, decompressor: Transform, maxBytes: number): RequestPayload {
  const bounded = boundedTo(maxBytes);
  const stop = (failure: Error) => {
    compressed.unpipe(decompressor);
    // Read and drop the rest: a client that is still sending would see a reset instead of the answer.
    compressed.resume();
    decompressor.destroy();
    bounded.destroy(failure);
  };
  compressed.once("error", stop).once("aborted", () => stop(new Error("The client disconnected.")));
  decompressor.once("error", () => stop(invalidRequest("The request body is not what its Content-Encoding says.")));
  bounded.once("error", stop);
  compressed.pipe(decompressor).pipe(bounded);
  return bounded;
}

/** Creates a transform that fails beyond `maxBytes`, which stops the decompression early. */
function boundedTo(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return done(null, chunk);
      done(new Fault("body-too-large", `The request body may have at most ${maxBytes} bytes once it is decompressed.`));
    },
  });
}

function unsupported(encoding: string): Fault {
  const encodings = Object.keys(DECOMPRESSORS).join(", ");
  const quotedEncoding = JSON.stringify(encoding.slice(0, 100));
  const message = `The Content-Encoding ${quotedEncoding} is not supported. Send the body uncompressed, or as one of ${encodings}.`;
  return new Fault("unsupported-media-type", message, { code: "unsupported_content_encoding" });
}

function compressedUpload(): Fault {
  const message = "Multipart bodies cannot be compressed as a body. Leave Content-Encoding out.";
  return new Fault("unsupported-media-type", message, { code: "unsupported_content_encoding" });
}
