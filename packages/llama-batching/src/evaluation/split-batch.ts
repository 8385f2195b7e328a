/** How llama.cpp splits a batch before it evaluates it. */

export interface BatchItem {
  /** llama.cpp's ID of the sequence. */
  sequenceId: number;
  tokens: number;
}

/**
 * Returns for each item whether llama.cpp evaluates one of its tokens alone, without another token of any sequence.
 * `items` are in the order of the batch. Follows `llama_batch_allocr::split_equal`: sequences with consecutive IDs are
 * evaluated together, as many tokens of each as the shortest has left.
 */
export function findLoneTokens(items: readonly BatchItem[]): boolean[] {
  const rest = items.map(({ tokens }) => tokens);
  const isLone = items.map(() => false);
  for (let first = rest.findIndex(isPositive); first !== -1; first = rest.findIndex(isPositive)) {
    const together = consecutiveFrom(first, items, rest);
    const tokens = Math.min(...together.map((index) => rest[index] as number));
    if (together.length === 1 && tokens === 1) isLone[first] = true;
    for (const index of together) rest[index] = (rest[index] as number) - tokens;
  }
  return isLone;
}

function consecutiveFrom(first: number, items: readonly BatchItem[], left: readonly number[]): number[] {
  const together = [first];
  let lastId = (items[first] as BatchItem).sequenceId;
  for (const [index, { sequenceId }] of items.entries()) {
    if (index <= first || left[index] === 0 || sequenceId !== lastId + 1) continue;
    together.push(index);
    lastId = sequenceId;
  }
  return together;
}

function isPositive(tokens: number): boolean {
  return tokens > 0;
}
