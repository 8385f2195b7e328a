import { beforeAll, expect, test } from "vitest";
import { toOpenApiDocument } from "../../src/wire/openapi/document.ts";
import type { RegisteredOperation } from "../../src/wire/openapi/operation.ts";
import { listOperations } from "./list-operations.ts";

interface Document {
  paths: Record<string, Record<string, { operationId: string; summary: string; tags: string[] }>>;
  components: { schemas: Record<string, unknown> };
}

let operations: readonly RegisteredOperation[];
let document: Document;
beforeAll(async () => {
  operations = await listOperations();
  document = (await toOpenApiDocument("1.0.0", operations)) as unknown as Document;
});

test("the OpenAPI document describes every route", () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  expect(described.length).toBeGreaterThan(80);
});

test("every operation has an ID that no other has, a summary and a section", () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(described.length);
  expect(described.filter(({ summary, tags }) => !summary.endsWith(".") || tags.length !== 1)).toEqual([]);
});

test("every path names its parameters", () => {
  expect(operations.filter(({ path }) => /\{\}|\*|:/.test(path))).toEqual([]);
});

test("every reference in the document leads to a schema", () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const named = new Set([...references].map(([, name]) => name));
  expect([...named].filter((name) => !Object.hasOwn(document.components.schemas, name ?? ""))).toEqual([]);
  expect(named.size).toBeGreaterThan(20);
});
