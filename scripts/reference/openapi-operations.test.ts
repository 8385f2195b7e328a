import { expect, test } from "vitest";
import { toOpenApiDocument } from "../../src/wire/openapi/document.ts";
import { OPERATIONS, toPathTemplate } from "../../src/wire/openapi/operations.ts";
import { ROUTE_SUMMARIES } from "../../src/wire/openapi/route-summaries.ts";
import { listRoutes } from "./list-routes.ts";

interface Document {
  paths: Record<string, Record<string, { operationId: string; summary: string; tags: string[] }>>;
  components: { schemas: Record<string, unknown> };
}

test("the OpenAPI document describes every route (src/wire/openapi/operations.ts)", async () => {
  const routes = (await listRoutes()).map((route) => {
    const [method = "", url = ""] = route.split(" ");
    return `${method} ${toPathTemplate(url)}`;
  });
  expect(Object.keys(OPERATIONS).sort()).toEqual(routes.sort());
  expect(Object.keys(ROUTE_SUMMARIES)).toHaveLength(routes.length);
});

test("every operation has an ID that no other has, a summary and a section", () => {
  const { paths } = toOpenApiDocument("1.0.0") as unknown as Document;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  expect(operations.filter(({ summary, tags }) => summary === "" || tags.length !== 1)).toEqual([]);
});

test("every reference in the document leads to a schema", () => {
  const document = toOpenApiDocument("1.0.0") as unknown as Document;
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const named = new Set([...references].map(([, name]) => name));
  expect([...named].filter((name) => !Object.hasOwn(document.components.schemas, name ?? ""))).toEqual([]);
  expect(named.size).toBeGreaterThan(20);
});
