/** Memoizes the languages of numbers and strings by their constraints. */

import type { DFA } from "refa";
import type { Automaton } from "./automaton.ts";
import { LIMITS } from "./limits.ts";
import { numberLanguage } from "./number-language.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { intersect, lengthLanguage, lengthsOf, UnsupportedPattern } from "./string-language.ts";
import type { Language, ValueConstraints } from "./value-constraints.ts";

export class LanguageCache {
  readonly #path: string;
  readonly #document: SchemaDocument;
  readonly #strings = new Map<string, DFA | undefined>();
  readonly #numbers = new Map<string, Automaton | undefined>();
  #stringStates = 0;

  constructor(document: SchemaDocument) {
    this.#path = document.root.path;
    this.#document = document;
  }

  numberAutomaton({ number }: ValueConstraints): Automaton | undefined {
    const key = JSON.stringify(number);
    try {
      if (!this.#numbers.has(key)) {
        this.#numbers.set(key, numberLanguage(number, LIMITS.numberStates));
      }
      return this.#numbers.get(key);
    } catch (error) {
      if (error instanceof RangeError) {
        throw new SchemaError(
          "too_complex",
          `The bounds of a number need more than ${LIMITS.numberStates} states: ${this.#path}.`,
          this.#path,
        );
      }
      throw error;
    }
  }

  /**
   * Language of the strings that match. Undefined when only the length is constrained, or nothing. `which`: the strings that
   * are generated, or all valid ones.
   */
  stringLanguage(constraints: ValueConstraints, which: "generated" | "valid" = "generated"): DFA | undefined {
    const { languages, min, max } = constraints.string;
    if (languages.length === 0) {
      return undefined;
    }
    const key = JSON.stringify([which, languages.map((language) => language.key), min, max]);
    if (!this.#strings.has(key)) {
      const language = this.#intersection(languages, max, which);
      this.#strings.set(key, language && this.#withLengths(language, min, max, languages[0]?.path ?? this.#path));
    }
    return this.#strings.get(key);
  }

  /** Undefined when the grammar enforces none of the languages. */
  #intersection(languages: readonly Language[], max: number | undefined, which: "generated" | "valid") {
    let result: DFA | undefined;
    for (const language of languages) {
      result = this.#enforced(language.path, result, () => {
        const next = which === "valid" && language.makeValid ? language.makeValid() : language.make(max);
        return result === undefined ? next : intersect(result, next);
      });
    }
    return result;
  }

  #withLengths(language: DFA, min: number, max: number | undefined, path: string): DFA | undefined {
    return this.#enforced(path, language, () => {
      const lengths = lengthsOf(language);
      const result =
        lengths && (lengths.min < min || lengths.max > (max ?? Infinity))
          ? intersect(language, lengthLanguage(min, max))
          : language;
      this.#stringStates += result.countNodes();
      if (this.#stringStates > LIMITS.allStringStates) {
        throw new UnsupportedPattern(`all patterns together need more than ${LIMITS.allStringStates} states`);
      }
      return result;
    });
  }

  /** The language that `make` returns; `otherwise` when it cannot be compiled. */
  #enforced(path: string, otherwise: DFA | undefined, make: () => DFA): DFA | undefined {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof UnsupportedPattern)) throw error;
      const message = `The keyword cannot be enforced during generation: ${error.message} (${path}).`;
      this.#document.leaveUnenforced(new SchemaError("unsupported", message, path));
      return otherwise;
    }
  }
}
