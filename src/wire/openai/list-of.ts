import { z } from "zod";

/** Schemas of items by their check: `min` and the like copy a schema with its checks. */
const itemSchemas = new WeakMap<object, z.ZodType>();

/**
 * Schema like `z.array` that stops at the first invalid item: a body may contain very many, and Zod would report them
 * all. Its output has the items as they were sent: for items without transforms.
 */
export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return list(item, () => {});
}

/** Schema like `listOf` whose output has the items as their schema reads them. */
export function parsedListOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return list(item, (items, index, output) => {
    items[index] = output;
  });
}

function list<Item extends z.ZodType>(
  item: Item,
  store: (items: unknown[], index: number, output: unknown) => void,
): z.ZodArray<Item> {
  // The value is Zod's copy of the array.
  const check: z.core.CheckFn<unknown[]> = ({ value, issues }) => {
    for (const [index, each] of value.entries()) {
      const { error, data } = item.safeParse(each, { reportInput: true });
      if (error === undefined) {
        store(value, index, data);
        continue;
      }
      const elementIssues = error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
      issues.push(...(elementIssues as typeof issues));
      return;
    }
  };
  itemSchemas.set(check, item);
  return z.array(z.unknown()).check(check) as unknown as z.ZodArray<Item>;
}

/** Schema of the items of a list that this module made; undefined for other schemas. */
export function itemsOf(list: z.ZodType): z.ZodType | undefined {
  const { checks = [] } = list._zod.def;
  return checks.map((each) => itemSchemas.get(each._zod.check)).find((item) => item !== undefined);
}
