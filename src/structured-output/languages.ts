/** Which numbers and texts fit a shape, each found once. */

import type { DFA } from "refa";
import { invalidRequest, unsupportedValue } from "../faults.ts";
import type { Automaton } from "./automaton.ts";
import { LIMITS } from "./limits.ts";
import { numberLanguage } from "./number-language.ts";
import type { Shape } from "./shape.ts";
import { both, lengthLanguage, lengthsOf, PatternRefused } from "./text-language.ts";

export class Languages {
  readonly #param: string;
  readonly #texts = new Map<string, DFA>();
  readonly #numbers = new Map<string, Automaton | undefined>();
  #textStates = 0;

  constructor(param: string) {
    this.#param = param;
  }

  numbers({ number }: Shape): Automaton | undefined {
    const key = JSON.stringify(number);
    try {
      if (!this.#numbers.has(key)) {
        this.#numbers.set(key, numberLanguage(number, LIMITS.numberStates));
      }
      return this.#numbers.get(key);
    } catch (error) {
      if (error instanceof RangeError) {
        throw invalidRequest(
          `A number takes more than ${LIMITS.numberStates} states to hold to its bounds: ${this.#param}.`,
          this.#param,
          "invalid_value",
        );
      }
      throw error;
    }
  }

  /**
   * Undefined: any text, of any length or of the length alone that the shape tells. `which`: those that are written, or all
   * that are valid.
   */
  texts(shape: Shape, which: "written" | "valid" = "written"): DFA | undefined {
    const { languages, min, max } = shape.text;
    const [first, ...others] = languages;
    if (first === undefined) {
      return undefined;
    }
    const key = JSON.stringify([which, languages.map((language) => language.key), min, max]);
    const make = (language: typeof first) =>
      which === "valid" && language.makeValid ? language.makeValid() : language.make(max);
    const known = this.#texts.get(key);
    if (known) {
      return known;
    }
    let path = first.path;
    try {
      let language = make(first);
      for (const other of others) {
        path = other.path;
        language = both(language, make(other));
      }
      const lengths = lengthsOf(language);
      if (lengths && (lengths.min < min || lengths.max > (max ?? Infinity))) {
        language = both(language, lengthLanguage(min, max));
      }
      this.#textStates += language.countNodes();
      if (this.#textStates > LIMITS.allTextStates) {
        throw new PatternRefused(`all patterns together need more than ${LIMITS.allTextStates} states`);
      }
      this.#texts.set(key, language);
      return language;
    } catch (error) {
      if (error instanceof PatternRefused) {
        throw unsupportedValue(`A text cannot be held to this while it is written: ${error.message} (${path}).`, path);
      }
      throw error;
    }
  }
}
