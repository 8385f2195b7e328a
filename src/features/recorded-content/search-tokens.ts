/** Words of recorded content for full-text search: the database gets keyed hashes, from which no word can be read. */

import { createHmac } from "node:crypto";
import type { ChatContent } from "../../contracts/chat-content.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { growingCache } from "../../kernel/growing-cache.ts";

const MAX_WORD_LENGTH = 64;
/** Different words of one request that are indexed. */
const MAX_WORDS = 5000;
/** 40 bits: a few words in a million share a token, so that matches are compared with the content again. */
const TOKEN_LENGTH = 10;
/** Common words make most of all texts. */
const MAX_CACHED_TOKENS = 50_000;

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces between words, which are indexed by pairs of characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Lower case, without accents and compatibility forms. */
export function normalize(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}

/** Returns the different words of a text. */
export function wordsIn(text: string): Set<string> {
  const words = new Set<string>();
  for (const [word] of normalize(text).matchAll(WORD)) {
    if (words.size >= MAX_WORDS) break;
    if (UNSPACED.test(word)) addPairs(words, [...word]);
    else words.add(word.slice(0, MAX_WORD_LENGTH));
  }
  return words;
}

/** Returns the different words of content. */
export function wordsOf(content: Pick<ChatContent, "inputMessages" | "outputMessages">): Set<string> {
  return wordsIn(textOf(content));
}

/** Returns what search finds in content: what somebody or a model wrote. */
export function textOf({
  inputMessages,
  outputMessages,
}: Pick<ChatContent, "inputMessages" | "outputMessages">): string {
  const texts = [...inputMessages, ...outputMessages].flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if ("content" in part) return part.content;
      return "arguments" in part ? part.arguments : "response" in part ? part.response : [];
    }),
  );
  return texts.join("\n");
}

function addPairs(words: Set<string>, characters: readonly string[]): void {
  if (characters.length === 1) words.add(characters[0] ?? "");
  for (let index = 1; index < characters.length; index += 1) {
    words.add(`${characters[index - 1]}${characters[index]}`);
  }
}

export class SearchTokens {
  readonly #keys: readonly Buffer[];
  readonly #cache = growingCache<string>(MAX_CACHED_TOKENS);

  constructor({ searchKeys }: Pick<Keyring, "searchKeys">) {
    this.#keys = searchKeys;
  }

  /** Returns the tokens of words for the index of a project, made with the current key. */
  index(projectId: string, words: Iterable<string>): string[] {
    return [...words].map((word) => this.#tokenOf(0, projectId, word));
  }

  /** Returns the tokens of words for each key of the ring: content may be older than the current one. */
  queries(projectId: string, words: readonly string[]): string[][] {
    return this.#keys.map((_key, index) => words.map((word) => this.#tokenOf(index, projectId, word)));
  }

  #tokenOf(key: number, projectId: string, word: string): string {
    const place = `${key} ${projectId} ${word}`;
    const cached = this.#cache.get(place);
    if (cached !== undefined) return cached;
    const hash = createHmac("sha256", this.#keys[key] ?? "")
      .update(`${projectId} ${word}`)
      .digest("hex");
    const token = hash.slice(0, TOKEN_LENGTH);
    this.#cache.set(place, token);
    return token;
  }
}
