import { z } from "zod";

/** Schemas of items by their check: `min` and the like copy a schema with its checks. */
const itemSchemas = new WeakMap<object, z.ZodType>();

/**
 * Schema like `z.array` for items without transforms that stops at the first invalid one: a body may contain millions,
 * and Zod would take half a minute to report them all.
 */
export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const check: z.core.CheckFn<unknown[]> = ({ value, issues }) => {
    for (const [index, each] of value.entries()) {
      const { error } = item.safeParse(each, { reportInput: true });
      if (error === undefined) continue;
      const elementIssues = error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
      issues.push(...(elementIssues as typeof issues));
      return;
    }
  };
  itemSchemas.set(check, item);
  return z.array(z.unknown()).check(check) as unknown as z.ZodArray<Item>;
}

/** Schema of the items of a list that `listOf` made; undefined for other schemas. */
export function itemsOf(list: z.ZodType): z.ZodType | undefined {
  const { checks = [] } = list._zod.def;
  return checks.map((each) => itemSchemas.get(each._zod.check)).find((item) => item !== undefined);
}
