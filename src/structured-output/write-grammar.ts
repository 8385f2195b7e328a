/** Writes a schema's graph as rules: one rule a place. */

import { invalidRequest, unsupportedValue } from "../faults.ts";
import { otherWordsAutomaton, type Range, wordsAutomaton } from "./automaton.ts";
import { automatonRules, characterClass, literalText, type RuleBook } from "./gbnf.ts";
import { characterTexts, JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import type { Member, Node, SchemaGraph } from "./schema-graph.ts";
import { ANY_VALUE, type JsonType, type Shape } from "./shape.ts";
import { ALPHABET, automatonOf, both, lengthLanguage, otherThan } from "./text-language.ts";

export class GrammarWriter {
  readonly #graph: SchemaGraph;
  readonly #rules: RuleBook;
  readonly #json: JsonRules;
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  /** Rules that are named but not written yet; grows while they are. */
  readonly #open = new Map<string, Node>();

  constructor(graph: SchemaGraph, rules: RuleBook) {
    this.#graph = graph;
    this.#rules = rules;
    this.#json = new JsonRules(rules);
  }

  /** Writes all rules; returns the name of the one for the whole. */
  write(): string {
    const root = this.#value(this.#graph.root);
    for (const [name, node] of this.#open) {
      this.#rules.define(name, this.#alternatives(node));
    }
    return root;
  }

  /** The name of the rule for values at this place, which is written later: places may lie in each other without end. */
  #value(node: Node): string {
    if (node.shapes[0] === ANY_VALUE) {
      return this.#json.any;
    }
    let name = this.#names.get(node.key);
    if (name === undefined) {
      name = this.#rules.reserve();
      this.#names.set(node.key, name);
      this.#open.set(name, node);
    }
    return name;
  }

  #alternatives(node: Node): string {
    const literals = node.shapes.flatMap((shape) => this.#graph.literals(shape));
    const others = node.shapes.filter((shape) => shape.literals === undefined);
    const alternatives = new Set([
      ...(literals.length > 0 ? [this.#oneOf(literals, node)] : []),
      ...others.flatMap((shape) => this.#graph.possibleTypes(shape).map((type) => this.#typed(shape, type, node))),
    ]);
    return [...alternatives].join(" | ");
  }

  #typed(shape: Shape, type: JsonType, node: Node): string {
    switch (type) {
      case "null":
        return '"null"';
      case "boolean":
        return '"true" | "false"';
      case "number":
        return this.#number(shape);
      case "string":
        return this.#text(shape);
      case "array":
        return this.#array(shape);
      case "object":
        return this.#object(shape, node);
    }
  }

  #oneOf(literals: readonly unknown[], node: Node): string {
    const texts = literals.map((value) => JSON.stringify(value));
    this.#checkWords(texts, LIMITS.words, node);
    return automatonRules(wordsAutomaton(texts), this.#rules, plainTexts, NOTHING);
  }

  #number(shape: Shape): string {
    const { integer, minimum, maximum, multipleOf } = shape.number;
    if (minimum === undefined && maximum === undefined && !integer) {
      return this.#json.number;
    }
    const isUnbounded = (minimum?.value ?? -Infinity) <= -LARGEST && (maximum?.value ?? Infinity) >= LARGEST;
    if (isUnbounded && integer && multipleOf === 1) {
      return this.#json.integer;
    }
    return this.#once(`number ${integer} ${JSON.stringify([minimum, maximum])} ${multipleOf}`, () => {
      const automaton = this.#graph.numbers(shape);
      return automaton ? automatonRules(automaton, this.#rules, plainTexts, NOTHING) : "";
    });
  }

  #text(shape: Shape): string {
    const { min, max, languages } = shape.text;
    if (languages.length === 0) {
      return this.#json.text(min, max);
    }
    return this.#once(`text ${JSON.stringify([min, max, languages.map(({ key }) => key)])}`, () => {
      const language = this.#graph.texts(shape);
      const automaton = language && automatonOf(language);
      return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
    });
  }

  #array(shape: Shape): string {
    const { min } = shape.array;
    const max = shape.array.max ?? Infinity;
    const space = this.#json.space;
    const distinct = this.#graph.distinctItems(shape);
    // From there on, every item is like the one before it, and may be the last.
    const repeated = max === Infinity ? Math.max(distinct, min, 1) : max;
    const after = (count: number, next: (count: number) => string): string => {
      const item = this.#graph.item(shape, Math.min(count, distinct));
      const isMore = count < max && this.#graph.isPossible(item);
      return [
        ...(isMore ? [`${separated(count, space)}${this.#value(item)} ${next(Math.min(count + 1, repeated))}`] : []),
        ...(count >= min ? [`${count === 0 ? "" : `${space} `}"]"`] : []),
      ].join(" | ");
    };
    return `"[" ${space} ${this.#states(0, after)}`;
  }

  #object(shape: Shape, node: Node): string {
    const members = this.#graph.members(shape);
    const additional = this.#graph.additional(shape);
    const required = members.filter((member) => member.required).length;
    const space = this.#json.space;
    const min = shape.object.min > required ? shape.object.min : 0;
    const max = additional !== undefined || members.length > (shape.object.max ?? 0) ? shape.object.max : undefined;
    this.#checkCounting(node, min, additional !== undefined, members);
    const enough = max ?? Math.max(min, 1);
    const texts = members.map((member) => this.#member(member));
    const more = additional && `${this.#key(members, additional.names, node)} ":" " "? ${this.#value(additional.node)}`;
    // Of the members from each on, how many have to be there.
    let counted = 0;
    const left = members
      .toReversed()
      .map((member) => (counted += member.required ? 1 : 0))
      .reverse();

    /** What may follow when so many members have been passed, and so many properties, up to `enough`, written. */
    const after = (state: number, next: (state: number) => string): string => {
      const index = Math.floor(state / (enough + 1));
      const count = state % (enough + 1);
      const at = (passed: number, written: number) => next(passed * (enough + 1) + Math.min(written, enough));
      const member = members[index];
      const needed = (left[index] ?? 0) + (member?.required ? 0 : 1);
      const isRoom = max === undefined || count + needed <= max;
      const canSkip = more !== undefined || count + members.length - index - 1 >= min;
      if (member === undefined) {
        return [
          ...(more !== undefined && isRoom ? [`${separated(count, space)}${more} ${at(index, count + 1)}`] : []),
          ...(count >= min ? [`${count === 0 ? "" : `${space} `}"}"`] : []),
        ].join(" | ");
      }
      return [
        ...(isRoom ? [`${separated(count, space)}${texts[index]} ${at(index + 1, count + 1)}`] : []),
        ...(!member.required && canSkip ? [at(index + 1, count)] : []),
      ].join(" | ");
    };
    return `"{" ${space} ${this.#states(0, after)}`;
  }

  #checkCounting(node: Node, min: number, isOpen: boolean, members: readonly Member[]): void {
    if (min > 1 && isOpen) {
      // A name that is written twice counts once, and no grammar can tell.
      const path = `${node.path}.minProperties`;
      throw unsupportedValue(
        `More than one property cannot be asked for without naming them: write \`properties\` and \`required\` (${path}).`,
        path,
      );
    }
    if (members.filter((member) => !member.required).length > LIMITS.optional) {
      throw invalidRequest(
        `At most ${LIMITS.optional} properties of an object may be optional: ${node.path}.`,
        node.path,
        "invalid_value",
      );
    }
  }

  /** A rule for each state that can be reached, whose body names the rules of the states that follow. */
  #states(first: number, body: (state: number, next: (state: number) => string) => string): string {
    const names = new Map<number, string>();
    const next = (state: number) => {
      const name = names.get(state) ?? this.#rules.reserve();
      names.set(state, name);
      return name;
    };
    const start = next(first);
    for (const [state, name] of names) {
      this.#rules.define(name, body(state, next));
    }
    return start;
  }

  #member({ name, node }: Member): string {
    return `${literalText(`${JSON.stringify(name)}:`)} " "? ${this.#value(node)}`;
  }

  /** A name that is none of the members', which have schemas of their own; written in one way, so that none is hidden in escapes. */
  #key(members: readonly Member[], names: Shape, node: Node): string {
    if (members.length === 0 && names.text.languages.length === 0) {
      return this.#json.text(names.text.min, names.text.max);
    }
    const taken = members.map(({ name }) => name);
    this.#checkWords(taken, LIMITS.names, node);
    const { min, max } = names.text;
    const texts = this.#graph.texts(names) ?? (min > 0 || max !== undefined ? lengthLanguage(min, max) : undefined);
    const automaton = texts ? automatonOf(both(otherThan(taken), texts)) : otherWordsAutomaton(taken, ALPHABET);
    return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
  }

  #checkWords(texts: readonly string[], most: number, node: Node): void {
    if (texts.reduce((sum, text) => sum + text.length, 0) > most) {
      throw invalidRequest(
        `Values and names may have at most ${most} characters together: ${node.path}.`,
        node.path,
        "invalid_value",
      );
    }
  }

  #once(key: string, body: () => string): string {
    const known = this.#texts.get(key) ?? this.#rules.add(body());
    this.#texts.set(key, known);
    return known;
  }
}

/** Integers that need no bounds of their own: what JavaScript counts exactly, as zod writes for any integer. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/** Written out: at the end of a rule, an alternative of no characters would take the next line with it. */
const NOTHING = '""';

const separated = (count: number, space: string) => (count === 0 ? "" : `"," ${space} `);

function plainTexts(ranges: readonly Range[]): string[] {
  const [first, ...others] = ranges;
  const isSingle = first && others.length === 0 && first[0] === first[1];
  return [isSingle ? literalText(String.fromCodePoint(first[0])) : characterClass(ranges)];
}
