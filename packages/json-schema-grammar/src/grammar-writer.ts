/** Writes a schema graph as grammar rules: one rule per node. */

import { complementAutomaton, type Range, wordsAutomaton } from "./automaton.ts";
import { automatonRules, characterClass, literalText, type RuleSet } from "./gbnf.ts";
import { characterTexts, JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import { SchemaError } from "./schema-error.ts";
import type { SchemaGraph } from "./schema-graph.ts";
import type { Member, Node } from "./schema-node.ts";
import { ALPHABET, automatonOf, complementOf, intersect, lengthLanguage } from "./string-language.ts";
import { ANY_VALUE, type JsonType, type ValueConstraints } from "./value-constraints.ts";

export class GrammarWriter {
  readonly #graph: SchemaGraph;
  readonly #rules: RuleSet;
  readonly #json: JsonRules;
  readonly #names = new Map<string, string>();
  readonly #strings = new Map<string, string>();
  /** Rules that are referenced but not written yet. Grows while rules are written. */
  readonly #open = new Map<string, Node>();

  constructor(graph: SchemaGraph, rules: RuleSet) {
    this.#graph = graph;
    this.#rules = rules;
    this.#json = new JsonRules(rules);
  }

  /** Writes all rules and returns the name of the root rule. */
  write(): string {
    const root = this.#value(this.#graph.root);
    for (const [name, node] of this.#open) {
      this.#rules.define(name, this.#alternatives(node));
    }
    return root;
  }

  /** Name of the node's rule. The body is written later, because nodes can be recursive. */
  #value(node: Node): string {
    if (node.alternatives[0] === ANY_VALUE) {
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
    const literals = node.alternatives.flatMap((constraints) => this.#graph.literals(constraints));
    const others = node.alternatives.filter((constraints) => constraints.literals === undefined);
    const alternatives = new Set([
      ...(literals.length > 0 ? [this.#oneOf(literals, node)] : []),
      ...others.flatMap((constraints) =>
        this.#graph.satisfiableTypes(constraints).map((type) => this.#typed(constraints, type, node)),
      ),
    ]);
    return [...alternatives].join(" | ");
  }

  #typed(constraints: ValueConstraints, type: JsonType, node: Node): string {
    switch (type) {
      case "null":
        return '"null"';
      case "boolean":
        return '"true" | "false"';
      case "number":
        return this.#number(constraints);
      case "string":
        return this.#text(constraints);
      case "array":
        return this.#array(constraints);
      case "object":
        return this.#object(constraints, node);
    }
  }

  #oneOf(literals: readonly unknown[], node: Node): string {
    const texts = literals.map((value) => JSON.stringify(value));
    this.#checkWords(texts, LIMITS.words, node);
    return automatonRules(wordsAutomaton(texts), this.#rules, plainTexts, NOTHING);
  }

  #number(constraints: ValueConstraints): string {
    const { integer, minimum, maximum, multipleOf } = constraints.number;
    if (minimum === undefined && maximum === undefined && !integer) {
      return this.#json.number;
    }
    const isUnbounded = (minimum?.value ?? -Infinity) <= -LARGEST && (maximum?.value ?? Infinity) >= LARGEST;
    if (isUnbounded && integer && multipleOf === 1) {
      return this.#json.integer;
    }
    return this.#once(`number ${integer} ${JSON.stringify([minimum, maximum])} ${multipleOf}`, () => {
      const automaton = this.#graph.numberAutomaton(constraints);
      return automaton ? automatonRules(automaton, this.#rules, plainTexts, NOTHING) : "";
    });
  }

  #text(constraints: ValueConstraints): string {
    const { min, max, languages } = constraints.string;
    if (languages.length === 0) {
      return this.#json.text(min, max);
    }
    return this.#once(`text ${JSON.stringify([min, max, languages.map(({ key }) => key)])}`, () => {
      const language = this.#graph.stringLanguage(constraints);
      if (language === undefined) return this.#json.text(min, max);
      const automaton = automatonOf(language);
      return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
    });
  }

  #array(constraints: ValueConstraints): string {
    const { min, unique, contains } = constraints.array;
    const max = constraints.array.max ?? Infinity;
    const listed = unique.length > 0 && max > 1 ? this.#uniqueItems(constraints) : undefined;
    if (listed !== undefined) return listed;
    for (const { path } of contains.slice(1)) this.#graph.leaveUnenforced("contains", path);
    const space = this.#json.space;
    const distinct = this.#graph.distinctItemCount(constraints);
    // From this index on, all items share one rule, and any of them may be the last.
    const repeated = max === Infinity ? Math.max(distinct, min, 1) : max;
    const contained = (count: number) => {
      const item = this.#graph.contained(constraints, Math.min(count, distinct));
      return item !== undefined && count < max && this.#graph.isSatisfiable(item) ? item : undefined;
    };
    /** Even states lack an item that `contains` requires. */
    const after = (state: number, next: (state: number) => string): string => {
      const count = state >> 1;
      const isComplete = state % 2 === 1;
      const item = this.#graph.item(constraints, Math.min(count, distinct));
      const following = Math.min(count + 1, repeated);
      const isMore =
        count < max && this.#graph.isSatisfiable(item) && (isComplete || contained(following) !== undefined);
      const match = isComplete ? undefined : contained(count);
      const then = (value: Node, complete: boolean) =>
        `${separated(count, space)}${this.#value(value)} ${next(2 * following + (complete ? 1 : 0))}`;
      return [
        ...(match === undefined ? [] : [then(match, true)]),
        ...(isMore ? [then(item, isComplete)] : []),
        ...(isComplete && count >= min ? [`${count === 0 ? "" : `${space} `}"]"`] : []),
      ].join(" | ");
    };
    return `"[" ${space} ${this.#states(contains.length === 0 ? 1 : 0, after)}`;
  }

  /** Arrays of distinct values: each set of values that are still to come is a state. Undefined for too many values. */
  #uniqueItems(constraints: ValueConstraints): string | undefined {
    const { min, unique, contains } = constraints.array;
    const values = this.#graph.listedItems(constraints);
    if (values === undefined || values.length > LIMITS.uniqueValues || contains.length > 0) {
      for (const path of unique) this.#graph.leaveUnenforced("uniqueItems", path);
      return undefined;
    }
    const max = Math.min(constraints.array.max ?? Infinity, values.length);
    const texts = values.map((value) => literalText(JSON.stringify(value)));
    const space = this.#json.space;
    const after = (written: number, next: (written: number) => string): string => {
      const remaining = texts.flatMap((text, index) => ((written >> index) & 1 ? [] : [{ text, bit: 1 << index }]));
      const count = texts.length - remaining.length;
      return [
        ...(count < max
          ? remaining.map(({ text, bit }) => `${separated(count, space)}${text} ${next(written | bit)}`)
          : []),
        ...(count >= min ? [`${count === 0 ? "" : `${space} `}"]"`] : []),
      ].join(" | ");
    };
    return `"[" ${space} ${this.#states(0, after)}`;
  }

  #object(constraints: ValueConstraints, node: Node): string {
    const members = this.#graph.members(constraints);
    const additional = this.#graph.additional(constraints);
    const isOpen = additional.length > 0;
    const required = members.filter((member) => member.required).length;
    const space = this.#json.space;
    const min = this.#countedMinimum(constraints.object.min > required ? constraints.object.min : 0, isOpen, node);
    const max = isOpen || members.length > (constraints.object.max ?? 0) ? constraints.object.max : undefined;
    this.#checkOptional(node, members);
    const enough = max ?? Math.max(min, 1);
    const texts = members.map((member) => this.#member(member));
    const more = additional.map(
      ({ names, node: value }) => `${this.#key(members, names, node)} ":" " "? ${this.#value(value)}`,
    );
    // Number of required members from each index on.
    let counted = 0;
    const rest = members
      .toReversed()
      .map((member) => (counted += member.required ? 1 : 0))
      .reverse();

    /** Continuations of a state: the number of members passed and of properties written, capped at `enough`. */
    const after = (state: number, next: (state: number) => string): string => {
      const index = Math.floor(state / (enough + 1));
      const count = state % (enough + 1);
      const at = (passed: number, written: number) => next(passed * (enough + 1) + Math.min(written, enough));
      const member = members[index];
      const needed = (rest[index] ?? 0) + (member?.required ? 0 : 1);
      const isRoom = max === undefined || count + needed <= max;
      const canSkip = isOpen || count + members.length - index - 1 >= min;
      if (member === undefined) {
        return [
          ...(isRoom ? more.map((property) => `${separated(count, space)}${property} ${at(index, count + 1)}`) : []),
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

  #countedMinimum(min: number, isOpen: boolean, node: Node): number {
    if (min <= 1 || !isOpen) return min;
    // Duplicate names count once, which a context-free grammar cannot track.
    this.#graph.leaveUnenforced("minProperties", `${node.path}.minProperties`);
    return min;
  }

  #checkOptional(node: Node, members: readonly Member[]): void {
    if (members.filter((member) => !member.required).length > LIMITS.optional) {
      throw new SchemaError(
        "too_complex",
        `An object may have at most ${LIMITS.optional} optional properties: ${node.path}.`,
        node.path,
      );
    }
  }

  /** Writes one rule per reachable state; each body refers to the rules of its successors. */
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

  /** Names other than the members'. Each has exactly one spelling, because an escaped spelling could hide a member's name. */
  #key(members: readonly Member[], names: ValueConstraints, node: Node): string {
    if (members.length === 0 && names.string.languages.length === 0) {
      return this.#json.text(names.string.min, names.string.max);
    }
    const usedNames = members.map(({ name }) => name);
    this.#checkWords(usedNames, LIMITS.names, node);
    const { min, max } = names.string;
    const texts =
      this.#graph.stringLanguage(names) ?? (min > 0 || max !== undefined ? lengthLanguage(min, max) : undefined);
    const automaton = texts
      ? automatonOf(intersect(complementOf(usedNames), texts))
      : complementAutomaton(usedNames, ALPHABET);
    return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
  }

  #checkWords(texts: readonly string[], max: number, node: Node): void {
    if (texts.reduce((sum, text) => sum + text.length, 0) > max) {
      throw new SchemaError(
        "too_complex",
        `Literals and property names may have at most ${max} characters in total: ${node.path}.`,
        node.path,
      );
    }
  }

  #once(key: string, body: () => string): string {
    const rule = this.#strings.get(key) ?? this.#rules.add(body());
    this.#strings.set(key, rule);
    return rule;
  }
}

/** zod writes these bounds for any integer; the plain integer rule already stays within them. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/** Explicit, because llama.cpp would join an empty alternative at the end of a rule with the next line. */
const NOTHING = '""';

const separated = (count: number, space: string) => (count === 0 ? "" : `"," ${space} `);

function plainTexts(ranges: readonly Range[]): string[] {
  const [first, ...others] = ranges;
  const isSingle = first && others.length === 0 && first[0] === first[1];
  return [isSingle ? literalText(String.fromCodePoint(first[0])) : characterClass(ranges)];
}
