import { AsyncQueue } from "../kernel/async/async-queue.ts";

/**
 * Reads `source` as fast as it produces and yields its items at the consumer's pace, so a slow client does not hold the
 * source's slot. Only for sources that end by themselves within bounds.
 */
export function drainToBuffer<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  const queue = new AsyncQueue<Item>();
  const drain = async () => {
    for await (const item of source) queue.push(item);
  };
  drain().then(
    () => queue.end(),
    (failure: unknown) => queue.end(failure),
  );
  return queue.read();
}
