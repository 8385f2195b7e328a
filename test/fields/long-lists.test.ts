/** A body with many items at fault costs no more than one: its schema stops at the first. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { type InProcessService, startService } from "../support/service/service.ts";

interface SchemaDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema } | undefined> } }>>;
}

const ITEMS = 1000;
/** Values of which each kind of item refuses one. */
const WRONG = [null, 0, "", {}, []];

let service: InProcessService;
let document: SchemaDocument;
beforeAll(async () => {
  service = await startService({ config: "code_interpreter: {}\nollama: { enabled: true }\n" });
  document = (await service.inject({ url: "/openapi.json" })).json();
});
afterAll(() => service?.stop());

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  const?: unknown;
}

type Wrap = (items: unknown) => unknown;

/** Yields each place of a schema where a list may stand, as what puts one there. */
function* lists(schema: Schema, wrap: Wrap = (items) => items, path: readonly string[] = []): Generator<Wrap> {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? "")?.[1];
  if (name !== undefined) {
    if (path.includes(name)) return;
    yield* lists(document.components.schemas[name] ?? {}, wrap, [...path, name]);
    return;
  }
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    yield* lists(each, wrap, path);
  }
  for (const [key, each] of Object.entries(schema.properties ?? {})) {
    const { const: type } = schema.properties?.type ?? {};
    yield* lists(each, (items) => wrap({ ...(type !== undefined && { type }), [key]: items }), path);
  }
  if (schema.items === undefined) return;
  yield wrap;
  yield* lists(schema.items, (items) => wrap([items]), path);
}

function countIssues(schema: z.ZodType, value: unknown): number {
  const count = (issues: readonly z.core.$ZodIssue[]): number =>
    issues.reduce(
      (sum, issue) =>
        sum + 1 + (issue.code === "invalid_union" ? issue.errors.reduce((all, each) => all + count(each), 0) : 0),
      0,
    );
  return count(schema.safeParse(value).error?.issues ?? []);
}

test("each list of each body stops at its first invalid item", () => {
  const violations: string[] = [];
  let count = 0;
  for (const { method, path, body } of service.operations) {
    const request = document.paths[path]?.[method.toLowerCase()]?.requestBody;
    const schema = request?.content["application/json"]?.schema;
    if (body === undefined || schema === undefined) continue;
    for (const wrap of lists(schema)) {
      count += 1;
      const counts = WRONG.map((item) => countIssues(body, wrap(new Array(ITEMS).fill(item))));
      if (Math.max(...counts) >= ITEMS) violations.push(`${method} ${path} ${JSON.stringify(wrap("the list"))}`);
    }
  }
  expect(violations).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
