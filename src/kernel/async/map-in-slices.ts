import { setImmediate as nextTurn } from "node:timers/promises";

/** Other requests wait for at most one slice and one item. */
const SLICE_MS = 10;

/** Maps items in order and lets the event loop turn between slices of some milliseconds. */
export async function mapInSlices<Item, Result>(
  items: Iterable<Item>,
  convert: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let sliceEnd = performance.now() + SLICE_MS;
  for (const item of items) {
    results.push(convert(item));
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MS;
  }
  return results;
}
