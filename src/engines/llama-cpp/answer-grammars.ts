/** The grammars that answers are held to, read once and kept for the next request. */

import { LRUCache } from "lru-cache";
import { GrammarCompiler } from "./grammar-compiler.ts";
import type { WantedGrammar } from "./grammar-text.ts";
import type { Decoder, GrammarState } from "./unpublished.ts";

/** Characters of schemas whose grammars are kept; a grammar in memory takes some ten times as much. */
const MOST_KEPT = 4_000_000;

export class AnswerGrammars {
  readonly #decoder: Decoder;
  readonly #compiler = new GrammarCompiler();
  readonly #kept = new LRUCache<string, Promise<GrammarState>>({
    maxSize: MOST_KEPT,
    sizeCalculation: (_, key) => key.length,
  });

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Throws a Fault that names the schema's keyword which cannot be enforced. The state is to be cloned, not used. */
  async get(wanted: WantedGrammar): Promise<GrammarState> {
    const key = JSON.stringify(wanted);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return await kept;
    const read = this.#compiler.compile(wanted).then((text) => this.#decoder.readGrammar(text));
    this.#kept.set(key, read);
    try {
      return await read;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }
}
