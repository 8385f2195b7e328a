/** Rules for JSON itself, which every grammar shares. */

import type { Range } from "./automaton.ts";
import { characterClass, literalText, type RuleBook, within } from "./gbnf.ts";

/** At most this deep is an answer indented, so that a model cannot fill it with white space. */
const INDENTATION = 20;
/** Characters in a row that one rule stands for. */
const BLOCK = 256;
const HALF_BLOCK = 16;

/** All code points of text but `"`, `\`, control characters and halves of surrogate pairs. */
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

/** Any control character, written as it has to be, or in the only way there is: `\u00…`. */
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
  readonly #rules: RuleBook;
  readonly #names = new Map<string, string>();

  constructor(rules: RuleBook) {
    this.#rules = rules;
  }

  /** Between the parts of an array or object: nothing, a space, or a new line and its indentation. */
  get space(): string {
    return this.#named("space", () => `( " " | "\\n" [ ]{0,${INDENTATION}} )?`);
  }

  get number(): string {
    return this.#named(
      "number",
      () => '"-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [+-]? [0-9]{1,2} )?',
    );
  }

  /** Of so few digits that every reader takes it for the same number. */
  get integer(): string {
    return this.#named("integer", () => '"0" | "-"? [1-9] [0-9]{0,14}');
  }

  /** Any text, quotes included, or one of so many characters. */
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

  /** In blocks: a rule a character would be copied into every text. */
  #exactly(count: number): string[] {
    const half = () => Array.from({ length: HALF_BLOCK }, () => this.#character).join(" ");
    const whole = () => Array.from({ length: BLOCK / HALF_BLOCK }, () => this.#named("half block", half)).join(" ");
    const parts: string[] = [];
    let left = count;
    for (const [size, name, body] of [
      [BLOCK, "block", whole],
      [HALF_BLOCK, "half block", half],
    ] as const) {
      for (; left >= size; left -= size) {
        parts.push(this.#named(name, body));
      }
    }
    return [...parts, ...Array.from({ length: left }, () => this.#character)];
  }

  /** Whole blocks, then less than one: two readings at most. */
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
    const known = this.#names.get(key);
    if (known !== undefined) {
      return known;
    }
    const name = this.#rules.add(body());
    this.#names.set(key, name);
    return name;
  }

  #recursive(key: string, body: () => string): string {
    const known = this.#names.get(key);
    if (known !== undefined) {
      return known;
    }
    const name = this.#rules.reserve();
    this.#names.set(key, name);
    return this.#rules.define(name, body());
  }
}
