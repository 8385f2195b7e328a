import { beforeAll, expect, test } from "vitest";
import { isLogged } from "../../src/http/request-log.ts";
import { toOpenApiDocument } from "../../src/wire/openapi/document.ts";
import type { RegisteredOperation } from "../../src/wire/openapi/operation.ts";
import { listOperations } from "./list-operations.ts";

interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  propertyNames?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
}

type Content = Record<string, { schema?: Schema }>;

interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; description?: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
}

interface Document {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, unknown> };
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

/** Operations with their names. */
function described(): [name: string, operation: DescribedOperation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, DescribedOperation] => [
      `${method} ${path}`,
      operation,
    ]),
  );
}

test("every operation has an ID that no other has, a summary and a section", () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(described.length);
  expect(described.filter(({ summary, tags }) => !summary.endsWith(".") || tags.length !== 1)).toEqual([]);
});

test("every path names its parameters", () => {
  const paths = operations.map(({ path, customMethod }) => path.replace(`:${customMethod}`, ""));
  expect(paths.filter((path) => /\{\}|\*|:/.test(path))).toEqual([]);
});

test("every operation of projects is logged and in the history", () => {
  const paths = operations.filter(({ permission }) => permission === "project").map(({ path }) => path);
  expect(paths.filter((path) => !isLogged(path))).toEqual([]);
  expect(paths.length).toBeGreaterThan(80);
});

test("every reference in the document leads to a schema", () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const named = new Set([...references].map(([, name]) => name));
  expect([...named].filter((name) => !Object.hasOwn(document.components.schemas, name ?? ""))).toEqual([]);
  expect(named.size).toBeGreaterThan(20);
});

test("every parameter says what it is", () => {
  const silent = described().flatMap(([name, { parameters = [] }]) =>
    parameters.filter(({ description }) => description === undefined).map((parameter) => `${name} ${parameter.name}`),
  );
  expect(silent).toEqual([]);
});

test("every body of a request is a named schema", () => {
  const bodies = described().flatMap(([name, { requestBody }]) =>
    Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({ name: `${name} ${type}`, schema })),
  );
  expect(bodies.filter(({ schema }) => schema?.$ref === undefined).map(({ name }) => name)).toEqual([]);
  expect(bodies.length).toBeGreaterThan(100);
});

test("every answer in JSON and every stream has a named schema with properties", () => {
  const answers = described().flatMap(([name, { responses }]) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, { schema }]) => ({ name: `${name} ${status} ${type}`, type, schema })),
    ),
  );
  const structured = answers.filter(({ type }) => /json$|event-stream$/.test(type));
  const faults = structured.filter(({ schema = {} }) => !(isNamed(schema) && hasProperties(schema)));
  expect(faults.map(({ name }) => name)).toEqual([]);
  expect(structured.length).toBeGreaterThan(300);
  expect(answers.filter(({ schema }) => schema === undefined).map(({ name }) => name)).toEqual([]);
});

/** Whether a schema is a component, or a choice of components. */
function isNamed({ $ref, anyOf }: Schema): boolean {
  return $ref !== undefined || (anyOf?.every(isNamed) ?? false);
}

function hasProperties({ $ref, properties = {}, anyOf, oneOf, items }: Schema): boolean {
  if ($ref !== undefined) return hasProperties(document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  const variants = anyOf ?? oneOf ?? (items === undefined ? undefined : [items]);
  return Object.keys(properties).length > 0 || (variants?.every(hasProperties) ?? false);
}

test("every failure is a shared answer", () => {
  const failures = described().flatMap(([name, { responses }]) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, { $ref }]) => ({ name: `${name} ${status}`, $ref })),
  );
  // Readiness has a form of its own.
  const inline = failures.filter(({ $ref }) => $ref === undefined).map(({ name }) => name);
  expect(inline).toEqual(["get /health 503", "get /health/ready 503"]);
  expect(Object.keys(document.components.responses)).toEqual(
    expect.arrayContaining([
      "NotFound",
      "TooManyRequests",
      "AnthropicTooManyRequests",
      "OllamaNotFound",
      "ScimConflict",
    ]),
  );
});

test("every operation on what its path names may answer that there is none", () => {
  const silent = described().filter(([name, { responses }]) => name.includes("{") && responses["404"] === undefined);
  expect(silent.map(([name]) => name)).toEqual([]);
});

test("no object is open that says nothing of its properties, except those that the configuration defines", () => {
  const open: string[] = [];
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    walk(schema, name, ({ type, properties, propertyNames }, path) => {
      const isEmpty = Object.keys(properties ?? {}).length === 0;
      if (type === "object" && isEmpty && propertyNames === undefined) open.push(path);
    });
  }
  expect(open).toEqual(["ConnectionBody"]);
});

test("no schema repeats a named one", () => {
  const names = new Map(
    Object.entries(document.components.schemas)
      .filter(([, { properties = {} }]) => Object.keys(properties).length > 1)
      .map(([name, schema]) => [toKey(schema), name]),
  );
  const copies: string[] = [];
  for (const [component, schema] of Object.entries(document.components.schemas)) {
    walk(schema, component, (each, path) => {
      const name = each === schema ? undefined : names.get(toKey(each));
      if (name !== undefined) copies.push(`${path} repeats ${name}`);
    });
  }
  expect(copies).toEqual([]);
});

/** Text that equal schemas share, whatever is said of them. */
function toKey(schema: Schema): string {
  return JSON.stringify(schema, (key, value) =>
    key === "description" && typeof value === "string" ? undefined : value,
  );
}

/** Visits a schema and all below it. */
function walk(value: unknown, path: string, visit: (schema: Schema, path: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(value as Schema, path);
  for (const [key, inner] of Object.entries(value)) walk(inner, `${path}/${key}`, visit);
}
