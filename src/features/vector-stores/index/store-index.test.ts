import { expect, test } from "vitest";
import { termsOf } from "../../../kernel/keywords/terms.ts";
import { encodeSegment } from "./segment-format.ts";
import { type IndexQuery, StoreIndex } from "./store-index.ts";
import { quantize, VectorBlocks } from "./vector-blocks.ts";

const DIMENSIONS = 40;

/** Vectors with pseudo-random numbers that are the same in every run. */
function vectors(count: number): Float32Array[] {
  let seed = 7;
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32 - 0.5;
  };
  return Array.from({ length: count }, () => Float32Array.from({ length: DIMENSIONS }, next));
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function nearest(all: readonly Float32Array[], query: Float32Array, max: number, isAllowed = (_: number) => true) {
  const scored = all.map((vector, entry) => ({ entry, score: cosine(vector, query) }));
  return scored
    .filter(({ entry }) => isAllowed(entry))
    .sort((a, b) => b.score - a.score)
    .slice(0, max);
}

test.each([
  ["integers", true, 1],
  ["codes first", false, 1],
])("finds the nearest vectors by %s, also among those that are allowed", (_name, isExact, minRecall) => {
  const all = vectors(9_000);
  const blocks = new VectorBlocks(DIMENSIONS);
  for (const vector of all) {
    const { integers, scale } = quantize(vector);
    blocks.add(integers, scale);
  }
  let hits = 0;
  for (const query of all.slice(0, 20)) {
    const scale = blocks.setQuery(query);
    for (const isAllowed of [() => true, (entry: number) => entry % 7 === 3]) {
      const found = blocks.search(query, scale, 10, isAllowed, isExact);
      const expected = nearest(all, query, 10, isAllowed);
      const entries = new Set(expected.map(({ entry }) => entry));
      hits += found.filter(({ entry }) => entries.has(entry)).length;
      expect(found.every(({ entry }) => isAllowed(entry))).toBe(true);
      expect(found[0]?.score).toBeCloseTo(expected[0]?.score ?? Number.NaN, 1);
    }
  }
  expect(hits / 400).toBeGreaterThanOrEqual(minRecall - 0.05);
});

test("computes codes again when the store has grown", () => {
  const all = vectors(6_000);
  const blocks = new VectorBlocks(DIMENSIONS);
  const addAll = (some: readonly Float32Array[]) => {
    for (const vector of some) {
      const { integers, scale } = quantize(vector);
      blocks.add(integers, scale);
    }
  };
  addAll(all.slice(0, 1_000));
  const query = all[5_500] as Float32Array;
  blocks.search(query, blocks.setQuery(query), 5, () => true, false);
  addAll(all.slice(1_000));
  const [best] = blocks.search(query, blocks.setQuery(query), 5, () => true, false);
  expect(best).toMatchObject({ entry: 5_500, score: expect.closeTo(1, 1) });
});

const TEXTS = {
  otter: ["Otters swim in rivers.", "They eat trout and crabs."],
  tide: ["A spring tide follows the full moon.", "Ebb and flow of the tides."],
  code: ["export function getUserProfile(userId: string)", "数据库连接失败"],
};

function indexOf(texts: Readonly<Record<string, readonly string[]>>): StoreIndex {
  const index = new StoreIndex();
  let seed = 0;
  for (const [addition, chunks] of Object.entries(texts)) {
    const values = new Float32Array(chunks.length * DIMENSIONS);
    for (const chunk of chunks.keys()) values[chunk * DIMENSIONS + seed++] = 1;
    index.addSegment(addition, 0, encodeSegment(chunks, values, DIMENSIONS));
    index.setAttributes(addition, { kind: addition });
  }
  return index;
}

function find(index: StoreIndex, text: string, query: Partial<IndexQuery> = {}) {
  const vector = new Float32Array(DIMENSIONS);
  vector[0] = 1;
  const weights = { embedding: 0, text: 1 };
  const options = { vector, terms: termsOf(text), filter: undefined, max: 10, weights, ...query };
  return index.search(options).filter(({ score }) => score > 0);
}

test.each([
  ["tide", ["tide 0", "tide 1"]],
  ["otter crab", ["otter 0", "otter 1"]],
  ["profile of a user", ["code 0", "tide 1", "tide 0"]],
  ["getUserProfile", ["code 0"]],
  ["连接", ["code 1"]],
  ["nothing here", []],
])("finds %s by words", (text, expected) => {
  const places = find(indexOf(TEXTS), text).map(({ addition, chunk }) => `${addition} ${chunk}`);
  expect(places.sort()).toEqual(expected.toSorted());
});

test("ranks by vectors, by both, within 0 and 1, and follows filters and removals", () => {
  const index = indexOf(TEXTS);
  const both = { weights: { embedding: 1, text: 1 } };
  const byVector = { weights: { embedding: 1, text: 0 } };
  expect(find(index, "tides", byVector)).toEqual([
    { addition: "otter", position: 0, chunk: 0, score: expect.closeTo(1) },
  ]);
  const ranked = find(index, "otters swim in rivers", both);
  expect(ranked[0]).toMatchObject({ addition: "otter", chunk: 0 });
  for (const { score } of ranked) expect(score).toBeLessThanOrEqual(1);
  const filter = { type: "eq" as const, key: "kind", value: "tide" };
  expect(find(index, "tide otters", { ...both, filter }).map(({ addition }) => addition)).toEqual(["tide", "tide"]);
  expect(index.isSparse).toBe(false);
  index.removeFile("tide");
  expect(find(index, "tide")).toEqual([]);
  expect(index.isSparse).toBe(true);
  index.addSegment("tide", 0, encodeSegment(["A new tide."], new Float32Array(DIMENSIONS).fill(1), DIMENSIONS));
  expect(find(index, "tide").map(({ addition }) => addition)).toEqual(["tide"]);
});
