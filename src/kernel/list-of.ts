import { z } from "zod";

/** Schemas of items by their check: `min` and the like copy a schema with its checks. */
const itemSchemas = new WeakMap<object, z.ZodType>();

/** Bounds with their messages. */
interface Bounds {
  min?: Parameters<z.ZodArray["min"]>;
  max?: Parameters<z.ZodArray["max"]>;
}

type Store = (items: unknown[], index: number, output: unknown) => void;

/**
 * Schema like `z.array` that stops at the first invalid item, and reads none of a list that is longer than its `max`: a
 * body may contain very many, and Zod would report them all. Its output has the items as they were sent: for items
 * without transforms.
 */
export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return list(item, () => {}, {});
}

/** Schema like `listOf` whose output has the items as their schema reads them. */
export function parsedListOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const store: Store = (items, index, output) => {
    items[index] = output;
  };
  return list(item, store, {});
}

function list<Item extends z.ZodType>(item: Item, store: Store, bounds: Bounds): z.ZodArray<Item> {
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
  const { min, max } = bounds;
  let schema = z.array(z.unknown());
  if (max !== undefined) schema = schema.max(max[0], aborting(max[1]));
  schema = schema.check(check);
  if (min !== undefined) schema = schema.min(...min);
  // Checks run in their order: the length is checked before the items, wherever it is said.
  return Object.assign(schema as unknown as z.ZodArray<Item>, {
    min: (...next: NonNullable<Bounds["min"]>) => list(item, store, { ...bounds, min: next }),
    max: (...next: NonNullable<Bounds["max"]>) => list(item, store, { ...bounds, max: next }),
  });
}

/** Checks after this one do not run. */
function aborting(params: Parameters<z.ZodArray["max"]>[1]) {
  return { ...(typeof params === "string" ? { error: params } : params), abort: true };
}

/** Schema of the items of a list that this module made; undefined for other schemas. */
export function itemsOf(list: z.ZodType): z.ZodType | undefined {
  const { checks = [] } = list._zod.def;
  return checks.map((each) => itemSchemas.get(each._zod.check)).find((item) => item !== undefined);
}
