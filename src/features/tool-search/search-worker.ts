/** Runs in a worker thread: searches the names, descriptions and parameters of tools. */

import { compileLinearPattern } from "@parlance-inference/json-schema-grammar/linear-pattern";
import { KeywordIndex } from "../../kernel/keywords/keyword-index.ts";
import { countTerms, termsOf } from "../../kernel/keywords/terms.ts";
import { lowerPriority } from "../../kernel/process/lower-priority.ts";

/** Share of the best score that a result needs: with less, it has common words only. */
const MIN_SHARE = 0.3;

export type SearchWay = "query" | "pattern";

interface SearchedTool {
  name: string;
  /** Description and parameters. */
  text: string;
}

export interface SearchTask {
  way: SearchWay;
  text: string;
  max: number;
  tools: readonly SearchedTool[];
}

lowerPriority();

/** Returns indexes of tools; undefined for a pattern that cannot be matched. */
export default function runTask({ way, text, max, tools }: SearchTask): number[] | undefined {
  return way === "query" ? rankByWords(tools, text, max) : findByPattern(tools, text, max);
}

function rankByWords(tools: readonly SearchedTool[], query: string, max: number): number[] {
  const index = new KeywordIndex();
  for (const { name, text } of tools) {
    // A word of the name counts more than one of the description.
    const occurrences = termsOf(`${name} ${name} ${text}`);
    const { terms, counts } = countTerms(occurrences);
    index.add(terms, counts, occurrences.length);
  }
  const { scores, entries } = index.score(termsOf(query));
  const scoreOf = (entry: number) => scores[entry] ?? 0;
  const ranked = [...entries].sort((one, other) => scoreOf(other) - scoreOf(one) || one - other).slice(0, max);
  const minScore = MIN_SHARE * scoreOf(ranked[0] ?? 0);
  return ranked.filter((entry) => scoreOf(entry) >= minScore);
}

/** Matches as Python's `re.search` does. */
function findByPattern(tools: readonly SearchedTool[], source: string, max: number): number[] | undefined {
  const pattern = compile(source);
  if (pattern === undefined) return undefined;
  const indexes: number[] = [];
  for (const [index, { name, text }] of tools.entries()) {
    if (indexes.length === max) break;
    if (pattern.test(`${name}\n${text}`)) indexes.push(index);
  }
  return indexes;
}

function compile(source: string): ReturnType<typeof compileLinearPattern> {
  const ignoresCase = source.startsWith("(?i)");
  try {
    return compileLinearPattern(ignoresCase ? source.slice("(?i)".length) : source, { ignoresCase });
  } catch {
    return undefined;
  }
}
