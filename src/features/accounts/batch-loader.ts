import DataLoader from "dataloader";

/**
 * Loads single values in batches: keys requested while a batch is loading go into the next one, so concurrent lookups
 * never take more than one query at a time. Caches nothing. Resolves with undefined for a missing key.
 */
export function batchLoader<Value>(
  maxBatchSize: number,
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): DataLoader<string, Value | undefined> {
  const pending = new Map<string, Promise<Value | undefined>>();
  let loading: Promise<unknown> = Promise.resolve();
  let turn: Promise<unknown> = loading;
  return new DataLoader<string, Value | undefined>(
    (keys) => {
      for (const key of keys) pending.delete(key);
      const loaded = load(keys);
      loading = loaded.catch(() => {});
      return loaded.then((values) => keys.map((key) => values.get(key)));
    },
    {
      maxBatchSize,
      // Holds a key only until its batch is sent: concurrent callers share one lookup.
      cacheMap: pending,
      batchScheduleFn: (dispatch) => {
        turn = turn.then(() => {
          dispatch();
          return loading;
        });
      },
    },
  );
}
