import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Maps items in order, `count` of them at the same time and each in a turn of the event loop of its own. Rejects with the
 * first failure, after which no further item begins.
 */
export async function mapSomeAtATime<Item, Result>(
  items: readonly Item[],
  count: number,
  convert: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      await nextTurn();
      results[index] = await convert(items[index] as Item);
    }
  };
  const stop = (failure: unknown) => {
    next = items.length;
    throw failure;
  };
  await Promise.all(Array.from({ length: count }, () => work().catch(stop)));
  return results;
}
