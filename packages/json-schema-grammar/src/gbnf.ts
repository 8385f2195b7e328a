/** GBNF, llama.cpp's grammar notation. */

import type { Automaton, Range } from "./automaton.ts";

/** A quoted literal. */
export function literalText(text: string): string {
  return `"${Array.from(text, (character) => escaped(character.codePointAt(0) ?? 0, '"\\')).join("")}"`;
}

/** A character class. Lists what it allows, because a negated class would also match invalid code points. */
export function characterClass(ranges: readonly Range[]): string {
  const joined: Array<[number, number]> = [];
  for (const [first, last] of ranges) {
    const before = joined.at(-1);
    if (before && before[1] + 1 === first) {
      before[1] = last;
    } else {
      joined.push([first, last]);
    }
  }
  const parts = joined.map(([first, last]) => {
    const from = escaped(first, "[]\\^-");
    const to = escaped(last, "[]\\^-");
    return first === last ? from : first + 1 === last ? from + to : `${from}-${to}`;
  });
  return `[${parts.join("")}]`;
}

/** The parts of sorted ranges that lie within `low` to `high`. */
export function within(ranges: readonly Range[], [low, high]: Range): Range[] {
  return ranges.flatMap(([first, last]) =>
    last < low || first > high ? [] : [[Math.max(first, low), Math.min(last, high)]],
  );
}

/** Minimum length of a body that is written once and shared, such as the class of all Unicode letters. */
const SHARED_LENGTH = 80;
const LITERAL = /^"((?:[^"\\]|\\.)*)"$/;

/** Named rules, which may refer to each other before they are defined. */
export class RuleSet {
  readonly #prefix: string;
  readonly #bodies = new Map<string, string>();
  readonly #shared = new Map<string, string>();
  readonly #check: (rules: number, characters: number) => void;
  #characters = 0;

  /** `prefix` namespaces the rules' names; `check` throws when the set exceeds its limits. */
  constructor(prefix: string, check: (rules: number, characters: number) => void) {
    this.#prefix = prefix;
    this.#check = check;
  }

  /** Returns one shared rule per distinct body; short bodies are returned inline. */
  shared(body: string): string {
    if (body.length < SHARED_LENGTH) {
      return body;
    }
    const name = this.#shared.get(body) ?? this.add(body);
    this.#shared.set(body, name);
    return name;
  }

  reserve(): string {
    const name = `${this.#prefix}--${this.#bodies.size}`;
    this.#bodies.set(name, "");
    return name;
  }

  define(name: string, body: string): string {
    this.#bodies.set(name, body);
    this.#characters += name.length + body.length;
    this.#check(this.#bodies.size, this.#characters);
    return name;
  }

  add(body: string): string {
    return this.define(this.reserve(), body);
  }

  toString(): string {
    return [...this.#bodies].map(([name, body]) => `${name} ::= ${body}\n`).join("");
  }
}

/** Writes each state as a right-recursive rule. Returns the body for the start state. */
export function automatonRules(
  { states }: Automaton,
  rules: RuleSet,
  edgeTexts: (ranges: readonly Range[]) => string[],
  end: string,
): string {
  const ways = states.map(({ accepting, edges }) => [
    ...edges.flatMap(({ ranges, to }) => edgeTexts(ranges).map((text) => ({ text: rules.shared(text), to }))),
    ...(accepting ? [{ text: end, to: undefined }] : []),
  ]);
  const entries = states.map(() => 0);
  for (const { to } of ways.flat()) {
    if (to !== undefined) {
      entries[to] = (entries[to] ?? 0) + 1;
    }
  }
  const isInline = (state: number) => state !== 0 && entries[state] === 1 && ways[state]?.length === 1;
  const names = new Map<number, string>();
  for (const state of states.keys()) {
    if ((entries[state] ?? 0) > 0 && !isInline(state)) {
      names.set(state, rules.reserve());
    }
  }
  const bodyOf = (state: number) =>
    (ways[state] ?? [])
      .map((way) => {
        const parts = [way.text];
        let to = way.to;
        while (to !== undefined && isInline(to)) {
          const next: { text: string; to: number | undefined } | undefined = ways[to]?.[0];
          parts.push(next?.text ?? "");
          to = next?.to;
        }
        return [...joinLiterals(parts), ...(to === undefined ? [] : [names.get(to)])].join(" ");
      })
      .join(" | ");
  for (const [state, name] of names) {
    rules.define(name, bodyOf(state));
  }
  return names.get(0) ?? bodyOf(0);
}

function joinLiterals(parts: readonly string[]): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const before = LITERAL.exec(joined.at(-1) ?? "");
    const next = LITERAL.exec(part);
    if (before && next) {
      joined[joined.length - 1] = `"${before[1]}${next[1]}"`;
    } else {
      joined.push(part);
    }
  }
  return joined;
}

function escaped(code: number, special: string): string {
  const character = String.fromCodePoint(code);
  if (code >= 0x20 && code < 0x7f && !special.includes(character)) {
    return character;
  }
  const hexadecimal = code.toString(16).toUpperCase();
  return code <= 0xff
    ? `\\x${hexadecimal.padStart(2, "0")}`
    : code <= 0xffff
      ? `\\u${hexadecimal.padStart(4, "0")}`
      : `\\U${hexadecimal.padStart(8, "0")}`;
}
