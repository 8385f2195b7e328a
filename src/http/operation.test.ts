import { type FastifyInstance, fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Operation } from "../wire/openapi/operation.ts";
import { BodyMemory } from "./body-memory.ts";
import { countRequests } from "./count-requests.ts";
import { collectOperations, operation, rawOperation } from "./operation.ts";

const definition: Operation = { summary: "Does it.", tag: "Service", permission: "public" };

test("collects what each route is, with the parameters of its path", async () => {
  const app = fastify();
  const operations = collectOperations(app);
  operation("GET /a/:name", definition, () => ({}))(app);
  operation("POST /b/*", { ...definition, wildcard: "file" }, () => ({}))(app);
  await app.ready();
  expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /a/{name}", "POST /b/{file}"]);
});

test("reads no large body of a request without a key, unless its operation says so", async () => {
  const app = fastify();
  operation("POST /small", definition, () => ({}))(app);
  operation("POST /large", { ...definition, route: { bodyLimit: 200_000 } }, () => ({}))(app);
  const payload = { text: "a".repeat(100_000) };
  expect((await app.inject({ method: "POST", url: "/small", payload })).statusCode).toBe(413);
  expect((await app.inject({ method: "POST", url: "/large", payload })).statusCode).toBe(200);
});

test("refuses to start with a route that has no permission", async () => {
  const app = fastify();
  collectOperations(app);
  app.register(async (scope) => {
    scope.get("/open", () => ({}));
  });
  await expect(app.ready()).rejects.toThrow("GET /open has no permission");
});

test("refuses to start with a route for admin keys that does not name what a user needs", async () => {
  const app = fastify();
  collectOperations(app);
  app.register(async (scope) => {
    scope.decorate("authenticates", "admin");
    operation("GET /a", { ...definition, permission: "admin" }, () => ({}))(scope);
  });
  await expect(app.ready()).rejects.toThrow("GET /a does not name the permission that a user needs");
});

test.each([
  ["project", undefined, "authenticates no keys"],
  ["public", "project", "authenticates project keys"],
  ["admin", "project", "authenticates project keys"],
  ["project", "admin", "authenticates admin keys"],
] as const)("refuses the permission %s in a scope of %s keys", async (permission, kind, problem) => {
  const app = fastify();
  collectOperations(app);
  app.register(async (scope) => {
    if (kind !== undefined) scope.decorate("authenticates", kind);
    operation("GET /a", { ...definition, permission }, () => ({}))(scope);
  });
  await expect(app.ready()).rejects.toThrow(problem);
});

describe("a request of a project key", () => {
  const ofProject = (overrides: Partial<Operation> = {}): Operation => ({
    ...definition,
    permission: "project",
    ...overrides,
  });
  const appWith = (add: (scope: FastifyInstance) => void) => {
    const app = fastify();
    collectOperations(app);
    app.register(async (scope) => {
      scope.decorate("authenticates", "project").decorate("bodyMemory", new BodyMemory(1));
      add(scope);
    });
    return app;
  };

  test.each([
    ["POST", {}, 1],
    ["PUT", {}, 1],
    ["GET", {}, 0],
    ["DELETE", {}, 0],
    ["POST", { counts: "never" }, 0],
    ["POST", { counts: "by-handler" }, 0],
  ] as const)("%s with %j counts %i times before its handler", async (method, overrides, times) => {
    const events: string[] = [];
    await using app = appWith((scope) => {
      countRequests(scope, async () => {
        events.push("count");
        return { requests: { limit: 5, remaining: 4, resetSeconds: 1 }, tokens: undefined };
      });
      const handler = () => {
        events.push("handler");
        return {};
      };
      operation(`${method} /parsed`, ofProject(overrides), handler)(scope);
      rawOperation(`${method} /raw`, ofProject(overrides), handler)(scope);
    });
    for (const url of ["/parsed", "/raw"]) {
      events.length = 0;
      const { headers } = await app.inject({ method, url });
      expect(events).toEqual([...Array(times).fill("count"), "handler"]);
      expect(headers["x-ratelimit-remaining-requests"]).toBe(times === 0 ? undefined : "4");
    }
  });

  test("is not counted for a body that is invalid", async () => {
    let counted = 0;
    await using app = appWith((scope) => {
      countRequests(scope, async () => {
        counted += 1;
        return { requests: undefined, tokens: undefined };
      });
      operation("POST /a", ofProject({ body: z.strictObject({ name: z.string() }) }), () => ({}))(scope);
    });
    await app.inject({ method: "POST", url: "/a", payload: {} });
    expect(counted).toBe(0);
  });

  test("fails the start where nothing counts it", async () => {
    const app = appWith((scope) => operation("POST /a", ofProject(), () => ({}))(scope));
    await expect(app.ready()).rejects.toThrow("POST /a counts as a request: its scope needs countRequests");
  });
});
