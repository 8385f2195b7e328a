import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fault } from "../kernel/faults.ts";
import { receiveUpload } from "./upload.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-upload-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("bounds the bytes of all fields together, which are in memory", async () => {
  const app = fastify({ bodyLimit: 100_000_000 });
  app.addContentTypeParser("multipart/form-data", (_request, _payload, done) => done(null));
  app.setErrorHandler((failure: Fault, _request, reply) => reply.code(400).send(failure.message));
  app.post("/", async (request, reply) => {
    const { fields } = await receiveUpload(request, reply, { directory, maxBytes: 50_000_000 });
    return fields.length;
  });
  const send = async (count: number) => {
    const form = new FormData();
    for (let index = 0; index < count; index += 1) form.append("references[]", "a".repeat(500_000));
    const { headers, body } = new Request("http://a", { method: "POST", body: form });
    const payload = Buffer.from(await new Response(body).arrayBuffer());
    return (await app.inject({ method: "POST", url: "/", headers: Object.fromEntries(headers), payload })).body;
  };
  expect(await send(4)).toBe("4");
  expect(await send(20)).toBe("All fields together may have at most 4194304 bytes.");
});
