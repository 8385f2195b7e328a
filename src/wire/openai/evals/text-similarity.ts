/** Similarities of two texts, between 0 and 1. Words are lower-case runs of letters and digits. */

import { distance } from "fastest-levenshtein";

export type WordMetric = "fuzzy_match" | "bleu" | "gleu" | "meteor" | `rouge_${1 | 2 | 3 | 4 | 5}` | "rouge_l";

/** Longer texts are compared by their beginnings: some metrics take the product of both lengths. */
const MAX_CHARACTERS = 20_000;
const MAX_WORDS = 4_000;

export function similarity(metric: WordMetric, candidateText: string, referenceText: string): number {
  const [candidate, reference] = [wordsOf(candidateText), wordsOf(referenceText)];
  if (metric === "fuzzy_match") return fuzzyMatch(candidateText, referenceText);
  if (metric === "bleu") return bleu(candidate, reference);
  if (metric === "gleu") return gleu(candidate, reference);
  if (metric === "meteor") return meteor(candidate, reference);
  if (metric === "rouge_l") return f1(longestCommon(candidate, reference), candidate.length, reference.length);
  return rouge(Number(metric.slice(-1)), candidate, reference);
}

/** Cosine of two vectors. */
export function cosine(one: readonly number[], other: readonly number[]): number {
  let [dot, oneSquared, otherSquared] = [0, 0, 0];
  for (const [index, value] of one.entries()) {
    const second = other[index] ?? 0;
    dot += value * second;
    oneSquared += value * value;
    otherSquared += second * second;
  }
  return oneSquared === 0 || otherSquared === 0 ? 0 : dot / Math.sqrt(oneSquared * otherSquared);
}

/** 1 minus the edits per character of the longer text. */
function fuzzyMatch(one: string, other: string): number {
  const [a, b] = [one.slice(0, MAX_CHARACTERS), other.slice(0, MAX_CHARACTERS)];
  const longer = Math.max(a.length, b.length);
  return longer === 0 ? 1 : 1 - distance(a, b) / longer;
}

/** BLEU of a sentence with up to 4-grams, smoothed by adding one to counts beyond single words (Lin and Och, 2004). */
function bleu(candidate: readonly string[], reference: readonly string[]): number {
  if (candidate.length === 0 || reference.length === 0) return candidate.length === reference.length ? 1 : 0;
  let logarithms = 0;
  for (let size = 1; size <= 4; size += 1) {
    const { overlap, total } = overlapOf(size, candidate, reference);
    const smoothing = size === 1 ? 0 : 1;
    if (overlap + smoothing === 0) return 0;
    logarithms += Math.log((overlap + smoothing) / (total + smoothing)) / 4;
  }
  const brevity = Math.min(0, 1 - reference.length / candidate.length);
  return Math.exp(brevity + logarithms);
}

/** GLEU: the lower one of precision and recall of all 1- to 4-grams (Wu and others, 2016). */
function gleu(candidate: readonly string[], reference: readonly string[]): number {
  let [overlaps, candidates, references] = [0, 0, 0];
  for (let size = 1; size <= 4; size += 1) {
    overlaps += overlapOf(size, candidate, reference).overlap;
    candidates += Math.max(0, candidate.length - size + 1);
    references += Math.max(0, reference.length - size + 1);
  }
  const longer = Math.max(candidates, references);
  return longer === 0 ? 1 : overlaps / longer;
}

/** METEOR with equal words only, without stems and synonyms (Banerjee and Lavie, 2005). */
function meteor(candidate: readonly string[], reference: readonly string[]): number {
  const { matches, chunks } = matchWords(candidate, reference);
  if (matches === 0) return candidate.length === 0 && reference.length === 0 ? 1 : 0;
  const precision = matches / candidate.length;
  const recall = matches / reference.length;
  const mean = (10 * precision * recall) / (recall + 9 * precision);
  return mean * (1 - 0.5 * (chunks / matches) ** 3);
}

/** Counts the words of the candidate that the reference has, and the runs that stand together in both. */
function matchWords(candidate: readonly string[], reference: readonly string[]): { matches: number; chunks: number } {
  const positions = Map.groupBy(reference.keys(), (index) => reference[index] as string);
  let matches = 0;
  let chunks = 0;
  let previous = Number.NaN;
  for (const word of candidate) {
    const open = positions.get(word) ?? [];
    const [match = Number.NaN] = open.splice(Math.max(0, open.indexOf(previous + 1)), 1);
    if (!Number.isNaN(match)) matches += 1;
    if (!Number.isNaN(match) && match !== previous + 1) chunks += 1;
    previous = match;
  }
  return { matches, chunks };
}

/** F1 of n-grams. */
function rouge(size: number, candidate: readonly string[], reference: readonly string[]): number {
  const { overlap } = overlapOf(size, candidate, reference);
  return f1(overlap, Math.max(0, candidate.length - size + 1), Math.max(0, reference.length - size + 1));
}

function f1(common: number, candidates: number, references: number): number {
  if (candidates === 0 && references === 0) return 1;
  return (2 * common) / (candidates + references);
}

/** n-grams of the candidate that the reference has, each as often as the reference has it. */
function overlapOf(size: number, candidate: readonly string[], reference: readonly string[]) {
  const available = new Map<string, number>();
  for (const gram of grams(size, reference)) available.set(gram, (available.get(gram) ?? 0) + 1);
  let [overlap, total] = [0, 0];
  for (const gram of grams(size, candidate)) {
    total += 1;
    const count = available.get(gram) ?? 0;
    if (count === 0) continue;
    available.set(gram, count - 1);
    overlap += 1;
  }
  return { overlap, total };
}

function* grams(size: number, words: readonly string[]): Generator<string> {
  for (let start = 0; start + size <= words.length; start += 1) yield words.slice(start, start + size).join(" ");
}

/** Length of the longest common subsequence. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  const numbers = new Map<string, number>();
  const toNumber = (word: string) => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  const [words, columns] = [Uint32Array.from(one, toNumber), Uint32Array.from(other, toNumber)];
  // In place; numbers and plain loops take a tenth of the time that words and entries do.
  const row = new Uint32Array(columns.length + 1);
  for (const word of words) {
    let diagonal = 0;
    for (let index = 0; index < columns.length; index += 1) {
      const above = row[index + 1] as number;
      const before = row[index] as number;
      row[index + 1] = columns[index] === word ? diagonal + 1 : Math.max(above, before);
      diagonal = above;
    }
  }
  return row[columns.length] ?? 0;
}

function wordsOf(text: string): string[] {
  return (
    text
      .slice(0, MAX_CHARACTERS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).slice(0, MAX_WORDS);
}
