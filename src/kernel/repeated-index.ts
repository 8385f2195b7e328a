/** Returns the index of the first value that an earlier one equals; -1 when all differ. */
export function repeatedIndex(values: readonly string[]): number {
  const earlier = new Set<string>();
  return values.findIndex((value) => earlier.size === earlier.add(value).size);
}
