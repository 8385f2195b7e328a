import { type FastifyRequest, fastify } from "fastify";
import { expect, test } from "vitest";
import type { Caller } from "../contracts/caller.ts";
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
