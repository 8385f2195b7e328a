import { describe, expect, test } from "vitest";
import { assignSlots, BeamCache } from "./beam-cache.ts";

const SHAPE = { layers: 1, heads: 2, headSize: 1, contextTokens: 448 };

/** Appends a token to each slot: the value in the first head is its key, ten times that in the second, negated as value. */
function append(cache: BeamCache, values: readonly number[]): void {
  const keys = values.flatMap((value) => [value, 10 * value]);
  cache.append(Float32Array.from([...keys, ...keys.map((key) => -key)]), values.length, 1);
}

/** Tokens of each slot, checked in all heads, keys and values. */
function tokensOf(cache: BeamCache, slots: number): number[][] {
  const inputs = cache.inputs(slots);
  const rows = (name: string) => {
    const { data = [], dims = [] } = inputs[name] ?? {};
    expect(dims).toEqual([slots, 2, cache.capacity, 1]);
    return Array.from({ length: 2 * slots }, (_, row) =>
      [...(data as Float32Array)].slice(row * cache.capacity, row * cache.capacity + cache.length),
    );
  };
  const [keys, values] = [rows("self_key_0"), rows("self_value_0")];
  expect(values).toEqual(keys.map((row) => row.map((key) => -key)));
  return Array.from({ length: slots }, (_, slot) => {
    expect(keys[2 * slot + 1]).toEqual(keys[2 * slot]?.map((key) => 10 * key));
    return keys[2 * slot] ?? [];
  });
}

describe("BeamCache", () => {
  test("gives each beam the tokens of its parent", () => {
    const cache = new BeamCache(SHAPE, 3);
    append(cache, [1]);
    expect(cache.reorder([0, 0, 0])).toEqual([0, 1, 2]);
    append(cache, [2, 3, 4]);
    // Two beams continue the third, one the first, which stays where it is.
    const slots = cache.reorder([2, 2, 0]);
    append(
      cache,
      slots.map((_, slot) => 5 + slots.indexOf(slot)),
    );
    const tokens = tokensOf(cache, 3);
    expect(slots.map((slot) => tokens[slot])).toEqual([
      [1, 4, 5],
      [1, 4, 6],
      [1, 2, 7],
    ]);
    expect(slots[2]).toBe(0);
  });

  test("moves beams of higher slots when there are fewer, and fills slots again", () => {
    const cache = new BeamCache(SHAPE, 3);
    append(cache, [1]);
    cache.reorder([0, 0, 0]);
    append(cache, [2, 3, 4]);
    expect(cache.reorder([2])).toEqual([0]);
    append(cache, [5]);
    const slots = cache.reorder([0, 0, 0]);
    expect(tokensOf(cache, 3)).toEqual(slots.map(() => [1, 4, 5]));
  });

  test("grows beyond its first capacity and keeps the tokens", () => {
    const cache = new BeamCache(SHAPE, 2);
    append(cache, [0]);
    cache.reorder([0, 0]);
    const { capacity } = cache;
    for (let token = 1; token <= capacity; token += 1) append(cache, [token, 1000 + token]);
    expect(cache.capacity).toBeGreaterThan(capacity);
    const expected = Array.from({ length: capacity + 1 }, (_, token) => token);
    expect(tokensOf(cache, 2)).toEqual([expected, expected.map((token) => (token === 0 ? 0 : 1000 + token))]);
  });
});

test.each([
  [[0], [0]],
  [
    [0, 0, 0],
    [0, 1, 2],
  ],
  [
    [2, 0, 1],
    [2, 0, 1],
  ],
  [
    [1, 1, 2],
    [1, 0, 2],
  ],
  [
    [4, 4, 1],
    [0, 2, 1],
  ],
])("assigns beams of slots %j the slots %j", (sources, slots) => {
  expect(assignSlots(sources)).toEqual(slots);
});
