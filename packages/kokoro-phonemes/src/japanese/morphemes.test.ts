import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Ipadic } from "./ipadic.ts";
import { openJapanese } from "./japanese.ts";
import { splitMorphemes } from "./morphemes.ts";

/** Word, IDs, cost, part of speech and pronunciation. */
const WORDS = [
  ["すもも", 1, 100, "名詞,一般", "スモモ"],
  ["も", 2, 10, "助詞,係助詞", "モ"],
  ["もも", 1, 100, "名詞,一般", "モモ"],
  ["の", 2, 10, "助詞,連体化", "ノ"],
  ["うち", 1, 100, "名詞,非自立", "ウチ"],
  ["東京", 1, 100, "名詞,固有名詞", "トーキョー"],
  ["京都", 1, 100, "名詞,固有名詞", "キョート"],
  ["都", 1, 150, "名詞,接尾", "ト"],
  ["です", 2, 10, "助動詞,*", "デス"],
] as const;
/** A noun follows a particle, a particle a noun. */
const NEIGHBORS = [
  [0, 0, 500],
  [0, 500, 0],
  [0, 0, 500],
];

let folder: string;
const path = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ipadic-"));
  const words = table(
    WORDS.map(([word, id, cost, kind, sound], key) => ({ key, id, cost, fields: fieldsOf(word, kind, sound) })),
  );
  const unknown = table([{ key: 0, id: 1, cost: 1000, fields: "*,名詞,一般,*,*,*,*,*" }]);
  const trie = doubleArray(WORDS.map(([word]) => word));
  const files: Record<string, Buffer> = {
    base: Buffer.from(trie.base.buffer),
    check: Buffer.from(trie.check.buffer),
    cc: Buffer.from(Int16Array.from([3, 3, ...NEIGHBORS.flat()]).buffer),
    tid: words.entries,
    tid_map: words.map,
    tid_pos: words.fields,
    unk: unknown.entries,
    unk_map: unknown.map,
    unk_pos: unknown.fields,
    unk_char: Buffer.alloc(65_536),
    // One class: not always, grouped.
    unk_invoke: Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 0]), Buffer.from("DEFAULT\0"), Buffer.alloc(20)]),
  };
  // As in the package, padded with zeros.
  for (const [name, bytes] of Object.entries(files)) {
    await writeFile(path(`${name}.dat.gz`), gzipSync(Buffer.concat([bytes, Buffer.alloc(name === "base" ? 0 : 64)])));
  }
});
afterAll(() => rm(folder, { recursive: true }));

const fieldsOf = (word: string, kind: string, sound: string) => `${word},${kind},*,*,*,*,${word},${sound},${sound}`;

test.each([
  ["すもももももももものうち", ["すもも", "も", "もも", "も", "もも", "の", "うち"]],
  ["東京都です", ["東京", "都", "です"]],
  ["", []],
])("splits %s at the least cost", async (text, words) => {
  const dictionary = await Ipadic.open(path);
  expect(splitMorphemes(dictionary, text).map(({ surface }) => surface)).toEqual(words);
});

test("words that the dictionary lacks are one word, with no pronunciation", async () => {
  const dictionary = await Ipadic.open(path);
  const [first, second, third] = splitMorphemes(dictionary, "東京𠮷野です");
  expect([first, third].map((each) => each?.pronunciation)).toEqual(["トーキョー", undefined].slice(0, 2));
  expect(second).toMatchObject({ surface: "𠮷野です".slice(0, second?.surface.length), pronunciation: undefined });
});

test.each([
  ["東京です。", "toːkʲoːdesɨ."],
  ["もも、もも!", "momo, momo!"],
  ["「もも」です", "“momo”desɨ"],
  ["カメラ", "kameɾa"],
  ["、。", ""],
])("the phonemes of %s are %s", async (text, phonemes) => {
  const japanese = await openJapanese(path);
  expect(await japanese.phonemize(text)).toBe(phonemes);
});

interface Entry {
  key: number;
  id: number;
  cost: number;
  fields: string;
}

function table(words: readonly Entry[]) {
  const fields: Buffer[] = [];
  const entries = Buffer.alloc(10 * words.length);
  const map = [words.length];
  let at = 0;
  for (const [index, word] of words.entries()) {
    for (const [place, value] of [word.id, word.id, word.cost].entries())
      entries.writeInt16LE(value, 10 * index + 2 * place);
    entries.writeInt32LE(at, 10 * index + 6);
    fields.push(Buffer.from(`${word.fields}\0`));
    at += fields[index]?.length ?? 0;
    map.push(word.key, 1, 10 * index);
  }
  return { entries, map: Buffer.from(Int32Array.from(map).buffer), fields: Buffer.concat(fields) };
}

/** A trie in which the children of each state have places of their own. */
function doubleArray(words: readonly string[]) {
  const base = new Int32Array(65_536);
  const check = new Int32Array(65_536).fill(-1);
  const keys = words.map((word, key) => ({ key, bytes: [...Buffer.from(word), 0] }));
  let free = 1;
  const add = (state: number, depth: number, within: typeof keys) => {
    base[state] = free;
    free += 256;
    for (const byte of new Set(within.map(({ bytes }) => bytes[depth] as number))) {
      const child = (base[state] as number) + byte;
      check[child] = state;
      const below = within.filter(({ bytes }) => bytes[depth] === byte);
      if (byte === 0) base[child] = -(below[0]?.key ?? 0) - 1;
      else add(child, depth + 1, below);
    }
  };
  add(0, 0, keys);
  return { base, check };
}
