/** The grammars that answers are held to, read once and kept for the next request. */

import { LRUCache } from "lru-cache";
import { GrammarCompiler } from "./grammar-compiler.ts";
import type { WantedGrammar } from "./grammar-text.ts";
import type { Decoder, GrammarState } from "./unpublished.ts";

/** Of what was asked for and of its grammars together. */
const MOST_KEPT_BYTES = 64 * 2 ** 20;

export class AnswerGrammars {
  readonly #decoder: Decoder;
  readonly #compiler = new GrammarCompiler();
  readonly #making: Map<string, Promise<GrammarState>> = new Map();
  readonly #kept = new LRUCache<string, GrammarState>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
  });

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Throws a Fault that names the schema's keyword which cannot be enforced. The state is to be cloned, not used. */
  async get(wanted: WantedGrammar): Promise<GrammarState> {
    const key = JSON.stringify(wanted);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const making = this.#making.get(key) ?? this.#make(wanted, key);
    this.#making.set(key, making);
    return await making;
  }

  async #make(wanted: WantedGrammar, key: string): Promise<GrammarState> {
    try {
      const state = this.#decoder.readGrammar(await this.#compiler.compile(wanted));
      this.#kept.set(key, state);
      return state;
    } finally {
      this.#making.delete(key);
    }
  }
}
