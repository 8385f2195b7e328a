/** Writes a schema's graph as rules: one rule a place. */

import { invalidRequest, unsupportedValue } from "../faults.ts";
import type { Range } from "./automaton.ts";
import { automatonRules, characterClass, literalText, type RuleBook } from "./gbnf.ts";
import { characterTexts, JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import type { Member, Node, SchemaGraph } from "./schema-graph.ts";
import { ANY_VALUE, JSON_TYPES, type JsonType, type Shape } from "./shape.ts";
import { automatonOf, both, only, otherThan } from "./text-language.ts";

export class GrammarWriter {
  readonly #graph: SchemaGraph;
  readonly #rules: RuleBook;
  readonly #json: JsonRules;
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  constructor(graph: SchemaGraph, rules: RuleBook) {
    this.#graph = graph;
    this.#rules = rules;
    this.#json = new JsonRules(rules);
  }

  /** The name of the rule for values at this place. */
  value(node: Node): string {
    const known = this.#names.get(node.key);
    if (known !== undefined) {
      return known;
    }
    if (node.shapes[0] === ANY_VALUE) {
      return this.#json.any;
    }
    const name = this.#rules.reserve();
    this.#names.set(node.key, name);
    const literals = node.shapes.flatMap((shape) => this.#graph.literals(shape));
    const others = node.shapes.filter((shape) => shape.literals === undefined);
    const alternatives = new Set([
      ...(literals.length > 0 ? [this.#oneOf(literals)] : []),
      ...others.flatMap((shape) => this.#graph.possibleTypes(shape).map((type) => this.#typed(shape, type, node))),
    ]);
    return this.#rules.define(name, [...alternatives].join(" | "));
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

  #oneOf(literals: readonly unknown[]): string {
    const automaton = automatonOf(only(literals.map((value) => JSON.stringify(value))));
    return automaton ? automatonRules(automaton, this.#rules, plainTexts, "") : "";
  }

  #number(shape: Shape): string {
    const { integer, minimum, maximum, multipleOf } = shape.number;
    if (!integer && minimum === undefined && maximum === undefined) {
      return this.#json.number;
    }
    return this.#once(`number ${integer} ${JSON.stringify([minimum, maximum])} ${multipleOf}`, () => {
      const automaton = this.#graph.numbers(shape);
      return automaton ? automatonRules(automaton, this.#rules, plainTexts, "") : "";
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
    const distinct = this.#graph.distinctItems(shape);
    const most = shape.array.max ?? Infinity;
    const space = this.#json.space;
    // Where no more items can differ in what they are or whether they may be the last.
    const last = most === Infinity ? Math.max(distinct, min, 1) : most;
    const names = Array.from({ length: last + 1 }, () => undefined as string | undefined);
    const after = (count: number): string => {
      const index = Math.min(count, last);
      const item = this.#graph.item(shape, Math.min(count, distinct));
      const isMore = count < most && this.#graph.isPossible(item);
      const name = names[index] ?? (index === 0 ? undefined : this.#rules.reserve());
      const isNew = names[index] === undefined;
      names[index] = name;
      if (!isNew && name !== undefined) {
        return name;
      }
      const alternatives = [
        ...(isMore ? [`${count === 0 ? "" : `"," ${space} `}${this.value(item)} ${after(count + 1)}`] : []),
        ...(count >= min ? [`${count === 0 ? "" : `${space} `}"]"`] : []),
      ];
      const body = alternatives.join(" | ");
      return name === undefined ? body : this.#rules.define(name, body);
    };
    return `"[" ${space} ( ${after(0)} )`;
  }

  #object(shape: Shape, node: Node): string {
    const members = this.#graph.members(shape);
    const additional = this.#graph.additional(shape);
    const required = members.filter((member) => member.required).length;
    const space = this.#json.space;
    const min = shape.object.min > required ? shape.object.min : 0;
    const canBeMore = additional !== undefined || members.length > (shape.object.max ?? Infinity);
    const max = canBeMore ? shape.object.max : undefined;
    if (min > 1 && additional !== undefined) {
      // A name that is written twice counts once, and no grammar can tell.
      const path = `${node.path}.minProperties`;
      throw unsupportedValue(
        `More than one property cannot be asked for without naming them: write \`properties\` and \`required\` (${path}).`,
        path,
      );
    }
    const enough = max ?? Math.max(min, 1);
    if ((members.length + 1) * (enough + 1) > LIMITS.rules) {
      throw invalidRequest(`Properties cannot be counted so far: ${node.path}.`, node.path, "invalid_value");
    }
    const left = members.map((_, index) => members.slice(index).filter((member) => member.required).length);
    const texts = members.map((member) => this.#member(member));
    const more = additional && `${this.#key(members, additional.names)} ":" " "? ${this.value(additional.node)}`;
    const names = new Map<string, string>();
    /** What may follow when so many members have been passed, and so many properties, up to `enough`, written. */
    const after = (index: number, count: number): string => {
      const key = `${index} ${count}`;
      const known = names.get(key);
      if (known !== undefined) {
        return known;
      }
      const name = this.#rules.reserve();
      names.set(key, name);
      const separator = count === 0 ? "" : `"," ${space} `;
      const member = members[index];
      const alternatives: string[] = [];
      const isRoom = max === undefined || count + (left[index] ?? 0) - (member?.required ? 1 : 0) < max;
      const next = Math.min(count + 1, enough);
      if (member && isRoom) {
        alternatives.push(`${separator}${texts[index]} ${after(index + 1, next)}`);
      }
      if (member && !member.required) {
        alternatives.push(after(index + 1, count));
      }
      if (member === undefined && more !== undefined && isRoom) {
        alternatives.push(`${separator}${more} ${after(index, next)}`);
      }
      if (member === undefined && count >= min) {
        alternatives.push(`${count === 0 ? "" : `${space} `}"}"`);
      }
      return this.#rules.define(name, alternatives.join(" | "));
    };
    return `"{" ${space} ${after(0, 0)}`;
  }

  #member({ name, node }: Member): string {
    return `${literalText(`${JSON.stringify(name)}:`)} " "? ${this.value(node)}`;
  }

  /** A name that is none of the members', which have schemas of their own; written in one way, so that none is hidden in escapes. */
  #key(members: readonly Member[], names: Shape): string {
    if (members.length === 0 && names.text.languages.length === 0) {
      return this.#json.text(names.text.min, names.text.max);
    }
    const others = otherThan(members.map(({ name }) => name));
    const texts = this.#graph.texts(names) ?? this.#lengths(names);
    const automaton = automatonOf(texts ? both(others, texts) : others);
    return `"\\"" ( ${automaton ? automatonRules(automaton, this.#rules, characterTexts, '"\\""') : ""} )`;
  }

  #once(key: string, body: () => string): string {
    const known = this.#texts.get(key) ?? this.#rules.add(body());
    this.#texts.set(key, known);
    return known;
  }
}

const plainTexts = (ranges: readonly Range[]) => [characterClass(ranges)];
