import { z } from "zod";

/**
 * As `z.array`, but for items that nothing is made of, and no further than to the first at fault: a body may hold
 * millions, and Zod would spend half a minute on wording what is wrong with each.
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
