/** Memoizes the languages of numbers and strings by their constraints. */

import type { DFA } from "refa";
import type { Automaton } from "./automaton.ts";
import { LIMITS } from "./limits.ts";
import { numberLanguage } from "./number-language.ts";
import { SchemaError } from "./schema-error.ts";
import { intersect, lengthLanguage, lengthsOf, UnsupportedPattern } from "./string-language.ts";
import type { ValueConstraints } from "./value-constraints.ts";

export class LanguageCache {
  readonly #path: string;
  readonly #strings = new Map<string, DFA>();
  readonly #numbers = new Map<string, Automaton | undefined>();
  #stringStates = 0;

  constructor(path: string) {
    this.#path = path;
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
    const [first, ...others] = languages;
    if (first === undefined) {
      return undefined;
    }
    const key = JSON.stringify([which, languages.map((language) => language.key), min, max]);
    const make = (language: typeof first) =>
      which === "valid" && language.makeValid ? language.makeValid() : language.make(max);
    const known = this.#strings.get(key);
    if (known) {
      return known;
    }
    let path = first.path;
    try {
      let language = make(first);
      for (const other of others) {
        path = other.path;
        language = intersect(language, make(other));
      }
      const lengths = lengthsOf(language);
      if (lengths && (lengths.min < min || lengths.max > (max ?? Infinity))) {
        language = intersect(language, lengthLanguage(min, max));
      }
      this.#stringStates += language.countNodes();
      if (this.#stringStates > LIMITS.allStringStates) {
        throw new UnsupportedPattern(`all patterns together need more than ${LIMITS.allStringStates} states`);
      }
      this.#strings.set(key, language);
      return language;
    } catch (error) {
      if (error instanceof UnsupportedPattern) {
        throw new SchemaError(
          "unsupported",
          `The keyword cannot be enforced during generation: ${error.message} (${path}).`,
          path,
        );
      }
      throw error;
    }
  }
}
