/** What one page reads of rows whose content may be large, since all of it is in memory at once. */
export const MAX_PAGE_BYTES = 4_000_000;

/** Returns the first of `items`, and those after it that fit into `maxBytes` together. */
export function firstWithin<Item extends { bytes: unknown }>(
  maxBytes: number,
  items: readonly Item[],
): readonly Item[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    // PostgreSQL returns sums as text.
    bytes += Number(item.bytes);
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, end);
}
