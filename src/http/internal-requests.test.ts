import { type FastifyRequest, fastify } from "fastify";
import { expect, test } from "vitest";
import type { Caller } from "../contracts/caller.ts";
import { FrameStream } from "./frame-stream.ts";
import { InternalRequests } from "./internal-requests.ts";

const caller = { keyId: "key_a", projectId: "proj_a", organizationId: "org-a", kind: "project" } as Caller;

test("gives an internal request its caller, which no client can claim", async () => {
  const lines = new InternalRequests("x-parlance-batch-line");
  const app = fastify();
  const seen: string[] = [];
  app.addHook("onRequest", (request, _reply, done) => {
    seen.push(String(request.headers["x-parlance-batch-line"]));
    done();
  });
  app.decorateRequest("internalCall");
  app.decorateRequest("record", { getter: () => ({}) as FastifyRequest["record"] });
  lines.addHooks(app);
  app.post("/line", async ({ internalCall, headers }) => ({
    keyId: internalCall?.caller.keyId ?? null,
    hasHeader: "x-parlance-batch-line" in headers,
  }));
  const body = new TextEncoder().encode("{}");
  const answer = await lines.run({ caller, path: "/line", body }, new AbortController().signal);
  expect(JSON.parse(answer.body)).toEqual({ keyId: "key_a", hasHeader: false });
  for (const id of [seen[0] ?? "", "00000000-0000-0000-0000-000000000000"]) {
    const headers = { "x-parlance-batch-line": id };
    const forged = await app.inject({ method: "POST", url: "/line", headers, payload: {} });
    expect(forged.json()).toEqual({ keyId: null, hasHeader: false });
  }
  await app.close();
});

/** An app whose one route answers once `gate` has opened, as an operation does that notices late that nobody waits. */
async function serveLate(frames: AsyncIterable<string>, gate: Promise<unknown>) {
  const requests = new InternalRequests("x-parlance-test");
  const app = fastify();
  app.decorateRequest("internalCall");
  app.decorateRequest("record", { getter: () => ({}) as FastifyRequest["record"] });
  requests.addHooks(app);
  const begun = Promise.withResolvers<void>();
  app.post("/", async ({ internalCall }, reply) => {
    internalCall?.signal.addEventListener("abort", () => reply.raw.destroy());
    begun.resolve();
    await gate;
    return reply.send(new FrameStream(frames, String));
  });
  return { app, requests, begun: begun.promise };
}

test("ends the frames of an answer whose request was aborted before it began", async () => {
  const gate = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let written = 0;
  const frames = (async function* () {
    try {
      for (; written < 1000; written += 1) yield "x".repeat(100_000);
    } finally {
      ended.resolve();
    }
  })();
  const { app, requests, begun } = await serveLate(frames, gate.promise);
  const stopping = new AbortController();
  const answering = requests.stream({ caller, path: "/", body: new TextEncoder().encode("{}") }, stopping.signal);
  await begun;
  stopping.abort(new Error("left"));
  await expect(answering).rejects.toThrow("left");
  gate.resolve();
  await ended.promise;
  expect(written).toBeLessThanOrEqual(1);
  await app.close();
});

test("streams an answer, and ends its request with the body", async () => {
  const ended = Promise.withResolvers<void>();
  const frames = (async function* () {
    try {
      for (;;) yield "x".repeat(100_000);
    } finally {
      ended.resolve();
    }
  })();
  const { app, requests } = await serveLate(frames, Promise.resolve());
  const { status, body } = await requests.stream(
    { caller, path: "/", body: new TextEncoder().encode("{}") },
    new AbortController().signal,
  );
  expect(status).toBe(200);
  for await (const chunk of body) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  await ended.promise;
  await app.close();
});
