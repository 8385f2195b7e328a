/** Compiled grammars, cached for the next request. */

import { LRUCache } from "lru-cache";
import type { NativeDecoder } from "../evaluation/native-decoder.ts";
import { GrammarCompiler } from "./grammar-compiler.ts";
import type { GrammarState } from "./grammar-state.ts";
import type { GrammarRequest } from "./grammar-text.ts";

/** Keys and grammars together. */
const MAX_CACHED_BYTES = 64 * 2 ** 20;

export class GrammarCache {
  readonly #decoder: NativeDecoder;
  readonly #compiler = new GrammarCompiler();
  readonly #compiling: Map<string, Promise<GrammarState>> = new Map();
  readonly #cached = new LRUCache<string, GrammarState>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
  });

  constructor(decoder: NativeDecoder) {
    this.#decoder = decoder;
  }

  /** Returns a state to clone. Throws a RequestError that names the schema keyword which cannot be enforced. */
  async get(request: GrammarRequest): Promise<GrammarState> {
    const key = JSON.stringify(request);
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached;
    const compiling = this.#compiling.get(key) ?? this.#compile(request, key);
    this.#compiling.set(key, compiling);
    return await compiling;
  }

  async #compile(request: GrammarRequest, key: string): Promise<GrammarState> {
    try {
      const state = this.#decoder.parseGrammar(await this.#compiler.compile(request));
      this.#cached.set(key, state);
      return state;
    } finally {
      this.#compiling.delete(key);
    }
  }
}
