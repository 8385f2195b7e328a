import { fastify } from "fastify";
import { expect, test } from "vitest";
import { requireLocalHost } from "./require-local-host.ts";

test.each<[Record<string, string>, number]>([
  [{ host: "localhost:8080" }, 200],
  [{ host: "ai.example.com" }, 200],
  [{ host: "evil.example" }, 500],
  [{ host: "127.0.0.1", "x-forwarded-host": "evil.example" }, 500],
  [{ host: "evil.example", "x-forwarded-host": "localhost" }, 500],
  [{ host: "evil.example", authorization: "Bearer sk-a" }, 200],
])("answers a request through a trusted proxy with %j by %i", async (headers, status) => {
  const app = fastify({ trustProxy: true });
  requireLocalHost(app, ["ai.example.com"]);
  app.get("/", async () => "");
  expect((await app.inject({ url: "/", headers })).statusCode).toBe(status);
});
