import { setImmediate as nextTurn } from "node:timers/promises";
import { AsyncQueue } from "../kernel/async/async-queue.ts";

const ITEMS_PER_TURN = 256;

/**
 * Reads `source` as fast as it produces and yields its items at the consumer's pace, so a slow client does not hold the
 * source's slot. Only for sources that end by themselves within bounds.
 */
export function drainToBuffer<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  const queue = new AsyncQueue<Item>();
  const drain = async () => {
    let count = 0;
    for await (const item of source) {
      queue.push(item);
      count += 1;
      // A source that has everything at hand would keep the event loop to itself.
      if (count % ITEMS_PER_TURN === 0) await nextTurn();
    }
  };
  drain().then(
    () => queue.end(),
    (failure: unknown) => queue.end(failure),
  );
  return queue.read();
}
