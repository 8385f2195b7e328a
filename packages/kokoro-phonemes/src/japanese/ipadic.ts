/**
 * IPADIC, a dictionary of Japanese with the costs of words and of their neighborhood, in the files that kuromoji.js ships:
 * words are in a double-array trie (J. Aoe, 1989) of their UTF-8 bytes.
 */

import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** A word at one place of a text. */
export interface Candidate {
  /** In bytes. */
  length: number;
  leftId: number;
  rightId: number;
  cost: number;
  /** Fields of IPADIC, separated by commas: the word, six of its grammar, its base form, its reading and its pronunciation. */
  fields: () => string;
}

/** How characters of a class become words that the dictionary lacks. */
interface CharacterClass {
  /** Also where the dictionary has words. */
  isAlways: boolean;
  /** Whether a run of them is one word. */
  isGrouped: boolean;
}

/** Names of the files, each with the ending `.dat.gz`. */
const IPADIC_FILES = [
  ...["base", "check", "cc", "tid", "tid_map", "tid_pos"],
  ...["unk", "unk_map", "unk_pos", "unk_char", "unk_invoke"],
] as const;

type Files = Record<(typeof IPADIC_FILES)[number], Buffer>;

export class Ipadic {
  readonly #base: Int32Array;
  readonly #check: Int32Array;
  readonly #costs: Int16Array;
  readonly #words: WordTable;
  readonly #unknown: WordTable;
  readonly #classOf: Uint8Array;
  readonly #classes: readonly CharacterClass[];

  private constructor(files: Files) {
    this.#base = new Int32Array(aligned(files.base));
    this.#check = new Int32Array(aligned(files.check));
    this.#costs = new Int16Array(aligned(files.cc));
    this.#words = new WordTable(files.tid, files.tid_map, files.tid_pos);
    this.#unknown = new WordTable(files.unk, files.unk_map, files.unk_pos);
    this.#classOf = files.unk_char;
    this.#classes = readClasses(files.unk_invoke);
  }

  static async open(path: (name: string) => string): Promise<Ipadic> {
    const read = async (name: string) =>
      [name, await promisify(gunzip)(await readFile(path(`${name}.dat.gz`)))] as const;
    return new Ipadic(Object.fromEntries(await Promise.all(IPADIC_FILES.map(read))) as Files);
  }

  /** Cost of one word beside the next. */
  costBetween(rightId: number, leftId: number): number {
    // The first two numbers are the dimensions.
    return this.#costs[2 + rightId * (this.#costs[1] ?? 0) + leftId] ?? 0;
  }

  /** Words that begin at the beginning of `text`, which has at least one character; `bytes` is the same in UTF-8. */
  candidates(text: string, bytes: Uint8Array): Candidate[] {
    const entries = this.#entries(bytes);
    const classId = this.#classIdOf(text, 0);
    const { isAlways, isGrouped } = this.#classes[classId] ?? { isAlways: true, isGrouped: false };
    if (entries.length > 0 && !isAlways) return entries;
    let end = characterAt(text, 0).length;
    while (isGrouped && end < text.length && this.#classIdOf(text, end) === classId) {
      end += characterAt(text, end).length;
    }
    return [...entries, ...this.#unknown.of(classId, Buffer.byteLength(text.slice(0, end)))];
  }

  #entries(bytes: Uint8Array): Candidate[] {
    const candidates: Candidate[] = [];
    let state = 0;
    for (const [index, byte] of bytes.entries()) {
      const next = (this.#base[state] ?? 0) + byte;
      if (this.#check[next] !== state) break;
      state = next;
      const leaf = this.#base[state] ?? 0;
      if (this.#check[leaf] !== state) continue;
      candidates.push(...this.#words.of(-(this.#base[leaf] ?? 0) - 1, index + 1));
    }
    return candidates;
  }

  #classIdOf(text: string, at: number): number {
    return this.#classOf[text.charCodeAt(at)] ?? 0;
  }
}

/** Words by a key, each as left ID, right ID, cost (16 bits) and the place of its fields (32 bits). */
class WordTable {
  readonly #entries: Buffer;
  readonly #fields: Buffer;
  /** The number of keys, then each key, the number of its words and the places of these. */
  readonly #map: Int32Array;
  /** Where a key's number of words is in the map; 0: there is no such key. */
  readonly #places: readonly number[];

  constructor(entries: Buffer, map: Buffer, fields: Buffer) {
    this.#entries = withoutPadding(entries);
    this.#fields = withoutPadding(fields);
    this.#map = new Int32Array(aligned(map));
    const places: number[] = [];
    for (let remaining = this.#map[0] ?? 0, at = 1; remaining > 0; remaining -= 1) {
      places[this.#map[at] as number] = at + 1;
      at += 2 + (this.#map[at + 1] as number);
    }
    this.#places = places;
  }

  of(key: number, length: number): Candidate[] {
    const at = this.#places[key] ?? 0;
    const places = this.#map.subarray(at + 1, at === 0 ? 0 : at + 1 + (this.#map[at] as number));
    return Array.from(places, (place) => ({
      length,
      leftId: this.#entries.readInt16LE(place),
      rightId: this.#entries.readInt16LE(place + 2),
      cost: this.#entries.readInt16LE(place + 4),
      fields: () => this.#readFields(this.#entries.readInt32LE(place + 6)),
    }));
  }

  #readFields(start: number): string {
    return this.#fields.toString("utf8", start, this.#fields.indexOf(0, start));
  }
}

/** A copy without most of the zeros at the end, which are megabytes. */
function withoutPadding(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return Buffer.from(bytes.subarray(0, end + 10));
}

/** Each class: two flags, 32 bits that are not used here, and a name that ends with 0. */
function readClasses(bytes: Buffer): CharacterClass[] {
  const classes: CharacterClass[] = [];
  for (let at = 0; at + 6 < bytes.length; at = bytes.indexOf(0, at + 6) + 1) {
    classes.push({ isAlways: bytes[at] === 1, isGrouped: bytes[at + 1] === 1 });
  }
  return classes;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) as number);
}

/** A copy that begins at a multiple of what typed arrays hold. */
function aligned(bytes: Buffer): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
}
