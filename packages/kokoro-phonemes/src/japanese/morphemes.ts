/** Splits Japanese into words: the sequence of the least cost (A. Viterbi, 1967) among those that the dictionary allows. */

import type { Candidate, Ipadic } from "./ipadic.ts";

export interface Morpheme {
  surface: string;
  /** IPADIC's part of speech and its first subdivision, such as 助詞 and 接続助詞. */
  partOfSpeech: string;
  subdivision: string;
  /** In katakana, as it is spoken; undefined for words that the dictionary lacks. */
  pronunciation: string | undefined;
}

interface Node extends Pick<Candidate, "leftId" | "rightId"> {
  total: number;
  previous: Node | undefined;
  candidate: Candidate | undefined;
}

export function splitMorphemes(dictionary: Ipadic, text: string): Morpheme[] {
  const bytes = Buffer.from(text);
  const start: Node = { leftId: 0, rightId: 0, total: 0, previous: undefined, candidate: undefined };
  /** By the byte at which they end. */
  const endingAt = new Map<number, Node[]>([[0, [start]]]);
  let rest = text;
  for (let at = 0; at < bytes.length; ) {
    const before = endingAt.get(at) ?? [];
    if (before.length > 0) {
      for (const candidate of dictionary.candidates(rest, bytes.subarray(at))) {
        const node = cheapest(dictionary, before, candidate);
        const end = at + candidate.length;
        endingAt.set(end, [...(endingAt.get(end) ?? []), node]);
      }
    }
    const character = String.fromCodePoint(rest.codePointAt(0) as number);
    rest = rest.slice(character.length);
    at += Buffer.byteLength(character);
  }
  const end = { length: 0, leftId: 0, rightId: 0, cost: 0, fields: () => "" };
  return pathTo(cheapest(dictionary, endingAt.get(bytes.length) ?? [start], end), bytes);
}

function cheapest(dictionary: Ipadic, before: readonly Node[], candidate: Candidate): Node {
  let total = Number.POSITIVE_INFINITY;
  let previous: Node | undefined;
  for (const node of before) {
    const cost = node.total + dictionary.costBetween(node.rightId, candidate.leftId) + candidate.cost;
    if (cost >= total) continue;
    total = cost;
    previous = node;
  }
  return { leftId: candidate.leftId, rightId: candidate.rightId, total, previous, candidate };
}

function pathTo(end: Node, bytes: Buffer): Morpheme[] {
  const morphemes: Morpheme[] = [];
  let at = bytes.length;
  for (let node = end.previous; node?.candidate !== undefined; node = node.previous) {
    const { length, fields } = node.candidate;
    const [, partOfSpeech = "", subdivision = "", ...more] = fields().split(",");
    const surface = bytes.toString("utf8", at - length, at);
    morphemes.unshift({ surface, partOfSpeech, subdivision, pronunciation: more[6] });
    at -= length;
  }
  return morphemes;
}
