/** Lists of request bodies: a body of megabytes may hold millions of items, and Zod reports each invalid one. */

import { expect, test } from "vitest";
import { z } from "zod";
import { listOperations } from "../../scripts/reference/list-operations.ts";
import { itemsOf } from "../../src/kernel/list-of.ts";
import { variantsOf } from "../../src/wire/openai/open-variants.ts";

/** Paths of the arrays within a schema that are not made by `listOf` or `parsedListOf`. */
function plainLists(schema: z.ZodType, path = "", seen = new Set<z.ZodType>()): string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const found: string[] = [];
  z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, path: below }) => {
      const each = zodSchema as unknown as z.ZodType;
      const at = [path, ...below].join(".");
      const items = itemsOf(each);
      if (items !== undefined) found.push(...plainLists(items, `${at}[]`, seen));
      else if (each._zod.def.type === "array" && !isCopyOfList(each)) found.push(at);
      for (const variant of Object.values(variantsOf(each) ?? {})) found.push(...plainLists(variant, at, seen));
    },
  });
  return found;
}

/** `listOf` checks its items itself, so that those of its array are unknown. */
function isCopyOfList(schema: z.ZodType): boolean {
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodUnknown;
}

test("every list of a JSON body stops at its first invalid item, and is not read beyond its bound", async () => {
  const operations = await listOperations();
  const bodies = operations.flatMap(({ method, path, body }) => (body ? [{ name: `${method} ${path}`, body }] : []));
  expect(bodies.length).toBeGreaterThan(100);
  const plain = bodies.flatMap(({ name, body }) => plainLists(body).map((at) => `${name}: ${at}`));
  expect(plain).toEqual([]);
});
