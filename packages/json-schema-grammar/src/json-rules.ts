/** The rules of JSON itself, shared by all grammars. */

import type { Range } from "./automaton.ts";
import { characterClass, literalText, type RuleSet, within } from "./gbnf.ts";

/** Maximum indentation, which keeps a model from generating endless whitespace. */
const INDENTATION = 20;
/** Characters covered by one rule. */
const BLOCK = 256;
const HALF_BLOCK = 16;

/** All code points except `"`, `\`, control characters and surrogates. */
const PLAIN: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0xd7ff],
  [0xe000, 0x10ffff],
];

const SHORT_ESCAPES: ReadonlyArray<readonly [code: number, letter: string]> = [
  [0x08, "b"],
  [0x09, "t"],
  [0x0a, "n"],
  [0x0c, "f"],
  [0x0d, "r"],
];

/** The JSON spelling of these characters. Control characters have exactly one: a short escape, or else `\u00…`. */
export function characterTexts(ranges: readonly Range[]): string[] {
  const plain = PLAIN.flatMap((range) => within(ranges, range));
  const has = (code: number) => ranges.some(([first, last]) => first <= code && code <= last);
  const texts = plain.length > 0 ? [characterClass(plain.sort(([a], [b]) => a - b))] : [];
  for (const character of ['"', "\\"]) {
    if (has(character.charCodeAt(0))) {
      texts.push(literalText(`\\${character}`));
    }
  }
  const letters = SHORT_ESCAPES.filter(([code]) => has(code)).map(([, letter]) => letter);
  if (letters.length > 0) {
    texts.push(`${literalText("\\")} [${letters.join("")}]`);
  }
  for (const [high, base] of [
    ["0", 0x00],
    ["1", 0x10],
  ] as const) {
    const digits = Array.from({ length: 16 }, (_, low) => low)
      .filter((low) => has(base + low) && SHORT_ESCAPES.every(([code]) => code !== base + low))
      .map((low) => low.toString(16));
    if (digits.length > 0) {
      texts.push(`${literalText(`\\u00${high}`)} [${digits.join("")}]`);
    }
  }
  return texts;
}

export class JsonRules {
  readonly #rules: RuleSet;
  readonly #names = new Map<string, string>();

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  /** Optional whitespace: a space, or a newline with indentation. */
  get space(): string {
    return this.#named("space", () => `( " " | "\\n" [ ]{0,${INDENTATION}} )?`);
  }

  get number(): string {
    return this.#named(
      "number",
      () => '"-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [+-]? [0-9]{1,2} )?',
    );
  }

  /** At most 15 digits, which every parser reads exactly. */
  get integer(): string {
    return this.#named("integer", () => '"0" | "-"? [1-9] [0-9]{0,14}');
  }

  /** A quoted string of `min` to `max` characters. */
  text(min: number, max: number | undefined): string {
    if (min === 0 && max === undefined) {
      return this.#named("text", () => `"\\"" ${this.#character}* "\\""`);
    }
    const rest = max === undefined ? `${this.#character}*` : this.#upTo(max - min);
    return this.#named(`text ${min} ${max}`, () => ['"\\""', ...this.#exactly(min), rest, '"\\""'].join(" "));
  }

  get any(): string {
    return this.#recursive(
      "any",
      () => `${this.object} | ${this.array} | ${this.text(0, undefined)} | ${this.number} | "true" | "false" | "null"`,
    );
  }

  get object(): string {
    return this.#recursive("object", () => {
      const member = `${this.text(0, undefined)} ":" " "? ${this.any}`;
      return `"{" ${this.space} ( ${member} ( "," ${this.space} ${member} )* ${this.space} )? "}"`;
    });
  }

  get array(): string {
    return this.#recursive(
      "array",
      () => `"[" ${this.space} ( ${this.any} ( "," ${this.space} ${this.any} )* ${this.space} )? "]"`,
    );
  }

  get #character(): string {
    return this.#named("character", () => {
      const hex = "[0-9a-fA-F]";
      const unit = `[0-9abcefABCEF] ${hex} ${hex} ${hex} | [dD] [0-7] ${hex} ${hex}`;
      const pair = `[dD] [89abAB] ${hex} ${hex} "\\\\u" [dD] [c-fC-F] ${hex} ${hex}`;
      return `${characterClass(PLAIN)} | "\\\\" ( ["\\\\/bfnrt] | "u" ( ${unit} | ${pair} ) )`;
    });
  }

  /** Built from blocks, because llama.cpp expands one rule per character in every use. */
  #exactly(count: number): string[] {
    const half = () => Array.from({ length: HALF_BLOCK }, () => this.#character).join(" ");
    const fullBlock = () => Array.from({ length: BLOCK / HALF_BLOCK }, () => this.#named("half block", half)).join(" ");
    const parts: string[] = [];
    let remaining = count;
    for (const [size, name, body] of [
      [BLOCK, "block", fullBlock],
      [HALF_BLOCK, "half block", half],
    ] as const) {
      for (; remaining >= size; remaining -= size) {
        parts.push(this.#named(name, body));
      }
    }
    return [...parts, ...Array.from({ length: remaining }, () => this.#character)];
  }

  /** Full blocks and a remainder of less than one block, which bounds the ambiguity at two parses. */
  #upTo(count: number): string {
    if (count === 0) {
      return '""';
    }
    if (count < BLOCK) {
      return this.#named(`up to ${count}`, () => `( ${this.#character} ${this.#upTo(count - 1)} )?`);
    }
    return this.#named(
      `up to ${count}`,
      () => `${this.#exactly(BLOCK).join(" ")} ${this.#upTo(count - BLOCK)} | ${this.#upTo(BLOCK - 1)}`,
    );
  }

  #named(key: string, body: () => string): string {
    const rule = this.#names.get(key);
    if (rule !== undefined) {
      return rule;
    }
    const name = this.#rules.add(body());
    this.#names.set(key, name);
    return name;
  }

  #recursive(key: string, body: () => string): string {
    const rule = this.#names.get(key);
    if (rule !== undefined) {
      return rule;
    }
    const name = this.#rules.reserve();
    this.#names.set(key, name);
    return this.#rules.define(name, body());
  }
}
