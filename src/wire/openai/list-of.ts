import { z } from "zod";

/**
 * Schema like `z.array` for items without transforms that stops at the first invalid one: a body may contain millions,
 * and Zod would take half a minute to report them all.
 */
export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const list = z.array(z.unknown()).check(({ value, issues }) => {
    for (const [index, each] of value.entries()) {
      const { error } = item.safeParse(each, { reportInput: true });
      if (error === undefined) continue;
      const own = error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
      issues.push(...(own as typeof issues));
      return;
    }
  });
  return list as unknown as z.ZodArray<Item>;
}
