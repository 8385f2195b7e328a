import { fastify } from "fastify";
import { expect, test } from "vitest";
import type { Operation } from "../wire/openapi/operation.ts";
import { collectOperations, operation } from "./operation.ts";

const definition: Operation = { summary: "Does it.", tag: "Service", permission: "public" };

test("collects what each route is, with the parameters of its path", async () => {
  const app = fastify();
  const operations = collectOperations(app);
  operation("GET /a/:name", definition, () => ({}))(app);
  operation("POST /b/*", { ...definition, wildcard: "file" }, () => ({}))(app);
  await app.ready();
  expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /a/{name}", "POST /b/{file}"]);
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
