/** Writes a schema graph as grammar rules: one rule per node. */

import { complementAutomaton, type Range, wordsAutomaton } from "./automaton.ts";
import { automatonRules, characterClass, literalText, type RuleSet } from "./gbnf.ts";
import { characterTexts, JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import { SchemaError } from "./schema-error.ts";
import type { SchemaGraph } from "./schema-graph.ts";
import type { Member, Node } from "./schema-node.ts";
import { ALPHABET, automatonOf, complement, intersect, lengthLanguage } from "./string-language.ts";
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
      const automaton = language && automatonOf(language);
      return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
    });
  }

  #array(constraints: ValueConstraints): string {
    const { min } = constraints.array;
    const max = constraints.array.max ?? Infinity;
    const space = this.#json.space;
    const distinct = this.#graph.distinctItemCount(constraints);
    // From this index on, all items share one rule, and any of them may be the last.
    const repeated = max === Infinity ? Math.max(distinct, min, 1) : max;
    const after = (count: number, next: (count: number) => string): string => {
      const item = this.#graph.item(constraints, Math.min(count, distinct));
      const isMore = count < max && this.#graph.isSatisfiable(item);
      return [
        ...(isMore ? [`${separated(count, space)}${this.#value(item)} ${next(Math.min(count + 1, repeated))}`] : []),
        ...(count >= min ? [`${count === 0 ? "" : `${space} `}"]"`] : []),
      ].join(" | ");
    };
    return `"[" ${space} ${this.#states(0, after)}`;
  }

  #object(constraints: ValueConstraints, node: Node): string {
    const members = this.#graph.members(constraints);
    const additional = this.#graph.additional(constraints);
    const required = members.filter((member) => member.required).length;
    const space = this.#json.space;
    const min = constraints.object.min > required ? constraints.object.min : 0;
    const max =
      additional !== undefined || members.length > (constraints.object.max ?? 0) ? constraints.object.max : undefined;
    this.#checkCounting(node, min, additional !== undefined, members);
    const enough = max ?? Math.max(min, 1);
    const texts = members.map((member) => this.#member(member));
    const more = additional && `${this.#key(members, additional.names, node)} ":" " "? ${this.#value(additional.node)}`;
    // Number of required members from each index on.
    let counted = 0;
    const left = members
      .toReversed()
      .map((member) => (counted += member.required ? 1 : 0))
      .reverse();

    /** Continuations of a state: the number of members passed and of properties written, capped at `enough`. */
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
      // Duplicate names count once, which a context-free grammar cannot track.
      const path = `${node.path}.minProperties`;
      throw new SchemaError(
        "unsupported",
        `\`minProperties\` above 1 cannot be enforced for unnamed properties: list them in \`properties\` and \`required\` (${path}).`,
        path,
      );
    }
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
    const taken = members.map(({ name }) => name);
    this.#checkWords(taken, LIMITS.names, node);
    const { min, max } = names.string;
    const texts =
      this.#graph.stringLanguage(names) ?? (min > 0 || max !== undefined ? lengthLanguage(min, max) : undefined);
    const automaton = texts ? automatonOf(intersect(complement(taken), texts)) : complementAutomaton(taken, ALPHABET);
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
    const known = this.#strings.get(key) ?? this.#rules.add(body());
    this.#strings.set(key, known);
    return known;
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
