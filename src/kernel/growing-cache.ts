import { LRUCache } from "lru-cache";

/**
 * Caches up to `maxEntries`, of which the least recently used leave first. It takes memory as it fills: with lru-cache's
 * own `max`, it would allocate 24 bytes for each possible entry at once, which the garbage collector then reads.
 */
export function growingCache<Value extends {}>(
  maxEntries: number,
  { ttlMs = 0 }: { ttlMs?: number } = {},
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: maxEntries, sizeCalculation: () => 1, ttl: ttlMs });
}
