import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { decompressBodies } from "./decompress.ts";
import { useErrorFormat } from "./errors.ts";
import { useJsonBodies } from "./json-body.ts";

const MAX_BYTES = 100_000;

function echoServer() {
  const app = fastify({ bodyLimit: MAX_BYTES });
  app.decorateRequest("reportFailure", () => {});
  useErrorFormat(app);
  useJsonBodies(app);
  decompressBodies(app, MAX_BYTES);
  app.post("/", async (request) => request.body);
  return app;
}

function post(body: Buffer, encoding: string) {
  const headers = { "content-type": "application/json", "content-encoding": encoding };
  return echoServer().inject({ method: "POST", url: "/", headers, payload: body });
}

const JSON_BODY = Buffer.from(JSON.stringify({ text: "é".repeat(1000) }));

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["GZIP", gzipSync],
  ["identity", (body: Buffer) => body],
] as const)("decompresses %s", async (encoding, compress) => {
  const answer = await post(compress(JSON_BODY), encoding);
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toBe(JSON_BODY.toString());
});

test("rejects an unsupported encoding with 415 and names it", async () => {
  const answer = await post(JSON_BODY, "compress");
  expect(answer.statusCode).toBe(415);
  expect(answer.json().error.message).toContain('"compress"');
});

test("rejects a body that exceeds the limit once decompressed", async () => {
  const answer = await post(gzipSync(Buffer.alloc(50_000_000, " ")), "gzip");
  expect(answer.statusCode).toBe(413);
  expect(answer.json().error.message).toContain(String(MAX_BYTES));
});

test("rejects a body that does not match its Content-Encoding", async () => {
  const answer = await post(JSON_BODY, "gzip");
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toContain("Content-Encoding");
});
