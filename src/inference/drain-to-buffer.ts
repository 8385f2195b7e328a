/**
 * Takes everything from `source` as fast as it comes and hands it on at the consumer's pace, so that a client
 * that reads slowly does not hold what the source holds. Only for sources that end by themselves within bounds.
 */
export function drainToBuffer<Item>(source: AsyncIterable<Item>): AsyncIterableIterator<Item> {
  const items: Item[] = [];
  let end: { failure?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const pump = async () => {
    try {
      for await (const item of source) {
        items.push(item);
        wake?.();
      }
      end = {};
    } catch (failure) {
      end = { failure };
    }
    wake?.();
  };
  void pump();
  return (async function* () {
    for (;;) {
      while (items.length > 0) yield items.shift() as Item;
      if (end !== undefined) {
        if ("failure" in end) throw end.failure;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  })();
}
