/** Generators of multipart uploads, some cut or damaged. */

import fc from "fast-check";
import { makeWave } from "../service/wave.ts";

export interface FuzzRequest {
  method: "GET" | "POST" | "DELETE";
  path: string;
  type?: string;
  body?: string | Buffer;
  headers?: Readonly<Record<string, string>>;
  isAdministration: boolean;
}

export const MULTIPART_TYPE = "multipart/form-data; boundary=B";
export const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 30 }) },
);
const WAVE = makeWave({ seconds: 0.2 });
const field = (given: string, value: string | Buffer, filename?: string) =>
  Buffer.concat([
    Buffer.from(
      `--B\r\ncontent-disposition: form-data; name="${given}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n`,
    ),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ]);
export const upload: fc.Arbitrary<FuzzRequest> = fc
  .record({
    path: fc.constantFrom("audio/transcriptions", "audio/transcriptions", "audio/translations"),
    fields: fc.dictionary(
      fc.constantFrom(
        "language",
        "prompt",
        "response_format",
        "temperature",
        "timestamp_granularities[]",
        "stream",
        "include[]",
        "x",
      ),
      fc.oneof(
        fc.constantFrom("en", "json", "text", "srt", "verbose_json", "0", "0.5", "word", "segment", "true", "false"),
        text,
      ),
      { maxKeys: 4 },
    ),
    file: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Buffer | undefined>(WAVE) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 99 }).map((bytes) => Buffer.from(bytes)) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    cut: fc.option(fc.nat(), { freq: 5 }),
    damaged: fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 4 }),
  })
  .map(({ path, fields, file, cut, damaged }) => {
    const parts = Object.entries(fields).map(([given, value]) => field(given, value));
    const body = Buffer.concat([
      field("model", "ears"),
      ...parts,
      ...(file === undefined ? [] : [field("file", file, "a.wav")]),
      Buffer.from("--B--\r\n"),
    ]);
    if (damaged !== null) body[damaged[0] % body.length] = damaged[1];
    return {
      method: "POST",
      path,
      type: MULTIPART_TYPE,
      body: cut === null ? body : body.subarray(0, cut % body.length),
      isAdministration: false,
    };
  });
