/** Finds values in the texts of a request. What is found are numbers, which threads pass on in one copy. */

import {
  isJsonDocument,
  rewriteToken,
  toJsonLines,
  tokensWithMatches,
} from "@parlance-inference/text-privacy/json-strings";
import type { Match } from "@parlance-inference/text-privacy/match";
import type { ChannelText } from "./channels.ts";

/** Matches in texts, or in the values of JSON texts: escapes would hide them, and quotes have to stay. */
export interface Located {
  /** Names of entities that occur. */
  types: string[];
  /** Index in `types`, start and end of each match; in JSON with offsets in its value. */
  spans: Int32Array;
  /** Start, end and number of matches of each token of JSON whose value has some. */
  tokens: Int32Array;
  /** Index, number of matches and number of tokens of each text that has matches. */
  texts: Int32Array;
}

type Find = (text: string) => readonly Match[] | Promise<readonly Match[]>;

/** IDs are random by nature. */
const RANDOM_TYPES = ["HIGH_ENTROPY_STRING"];

export async function locate(inputs: readonly ChannelText[], find: Find): Promise<Located> {
  const types: string[] = [];
  const spans: number[] = [];
  const tokens: number[] = [];
  const texts: number[] = [];
  const add = (matches: readonly Match[]) => {
    for (const { type, start, end } of matches) {
      const index = types.indexOf(type);
      spans.push(index < 0 ? types.push(type) - 1 : index, start, end);
    }
    return matches.length;
  };
  for (const [index, { text, kind }] of inputs.entries()) {
    const lines = kind !== "word" && isJsonDocument(text) ? toJsonLines(text) : undefined;
    const searching = find(lines?.text ?? text);
    const matches = searching instanceof Promise ? await searching : searching;
    if (lines === undefined) {
      const count = add(kind === "word" ? matches.filter(({ type }) => !RANDOM_TYPES.includes(type)) : matches);
      if (count > 0) texts.push(index, count, 0);
      continue;
    }
    const located = tokensWithMatches(lines, matches);
    let count = 0;
    for (const token of located) {
      tokens.push(token.start, token.end, token.matches.length);
      count += add(token.matches);
    }
    if (count > 0) texts.push(index, count, located.length);
  }
  return { types, spans: Int32Array.from(spans), tokens: Int32Array.from(tokens), texts: Int32Array.from(texts) };
}

/** Names of all matches in order. */
export function typesOf({ types, spans }: Located): string[] {
  return Array.from({ length: spans.length / 3 }, (_, index) => types[spans[index * 3] ?? 0] ?? "");
}

export type MaskText = (text: string, matches: readonly Match[]) => string;

/** Matches that are masked at once. */
const PER_TURN = 2_000;

/** Characters of a JSON string that take as long as a match. */
const CHARACTERS_PER_MATCH = 100;

/** Returns the texts with what `maskOf` returns for their parts with matches; `nextTurn` gives others their turn. */
export async function maskLocated(
  inputs: readonly ChannelText[],
  { types, spans, tokens, texts }: Located,
  maskOf: (input: ChannelText) => MaskText,
  nextTurn: () => Promise<unknown>,
): Promise<string[]> {
  const output = inputs.map(({ text }) => text);
  let span = 0;
  let token = 0;
  let due = PER_TURN;
  const spend = async (matches: number) => {
    due -= matches;
    if (due >= 0) return;
    await nextTurn();
    due = PER_TURN;
  };
  /** Returns the next matches, with offsets from `start` on. */
  const take = async (count: number, start: number) => {
    await spend(count);
    const matches: Match[] = [];
    for (const end = span + count * 3; span < end; span += 3) {
      const [from = 0, until = 0] = spans.subarray(span + 1, span + 3);
      matches.push({ type: types[spans[span] ?? 0] ?? "", start: from - start, end: until - start, score: 1 });
    }
    return matches;
  };
  const maskMatches = async (text: string, count: number, mask: MaskText) => {
    const parts: string[] = [];
    let from = 0;
    for (let rest = count; rest > 0; rest -= PER_TURN) {
      const matches = await take(Math.min(rest, PER_TURN), from);
      const end = from + (matches.at(-1)?.end ?? 0);
      parts.push(mask(text.slice(from, end), matches));
      from = end;
    }
    return parts.join("") + text.slice(from);
  };
  for (let entry = 0; entry < texts.length; entry += 3) {
    const [index = 0, matchCount = 0, tokenCount = 0] = texts.subarray(entry, entry + 3);
    const input = inputs[index];
    if (input === undefined) continue;
    const { text } = input;
    const mask = maskOf(input);
    if (tokenCount === 0) {
      output[index] = await maskMatches(text, matchCount, mask);
      continue;
    }
    const parts: string[] = [];
    let from = 0;
    for (const end = token + tokenCount * 3; token < end; token += 3) {
      const [start = 0, until = 0, count = 0] = tokens.subarray(token, token + 3);
      parts.push(text.slice(from, start));
      parts.push(
        await rewriteToken(text.slice(start, until), async (value) => {
          await spend(Math.floor(value.length / CHARACTERS_PER_MATCH));
          return maskMatches(value, count, mask);
        }),
      );
      from = until;
    }
    output[index] = parts.join("") + text.slice(from);
  }
  return output;
}
