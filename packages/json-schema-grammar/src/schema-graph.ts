/** Graph of all locations in a value: the constraints that apply at each, and whether any value satisfies them. */

import type { DFA } from "refa";
import type { Automaton } from "./automaton.ts";
import { EmptinessProof } from "./emptiness-proof.ts";
import { SchemaIntersection } from "./intersect-schemas.ts";
import { LanguageCache } from "./language-cache.ts";
import { LIMITS } from "./limits.ts";
import { LiteralCheck } from "./literal-check.ts";
import { NameLanguages } from "./name-languages.ts";
import type { SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import type { AdditionalProperties, Member, Node, NodeLookup, ValueCheck } from "./schema-node.ts";
import {
  ANY_VALUE,
  constraintsKey,
  isOpenTo,
  itemSubschemas,
  type JsonType,
  literalKey,
  type PropertyKey,
  propertyNames,
  propertySubschemas,
  type ValueConstraints,
} from "./value-constraints.ts";

export class SchemaGraph implements NodeLookup {
  readonly root: Node;
  readonly #path: string;
  readonly #nodes = new Map<string, Node>();
  readonly #satisfiable = new Set<string>();
  readonly #languages: LanguageCache;
  readonly #generatedLiterals = new LiteralCheck(this, "generated");
  readonly #members = new WeakMap<ValueConstraints, readonly Member[]>();
  readonly #intersection: SchemaIntersection;
  readonly #nameLanguages: NameLanguages;
  readonly #document: SchemaDocument;

  /** `root` restricts the root value. Throws a SchemaError when something cannot be enforced, or when no value matches. */
  constructor(document: SchemaDocument, root: ValueConstraints = ANY_VALUE) {
    this.#path = document.root.path;
    this.#document = document;
    this.#languages = new LanguageCache(document);
    this.#nameLanguages = new NameLanguages(this, document);
    const proof = new EmptinessProof(this);
    this.#intersection = new SchemaIntersection(document, (constraints) => proof.isProvablyEmpty(constraints));
    this.root = this.node([document.root], document.root.path, root);
    this.#findSatisfiable();
    if (!this.isSatisfiable(this.root)) {
      if (this.#intersection.isNarrowed) {
        throw new SchemaError(
          "unsupported",
          `\`not\` and \`if\` leave no value that is sure to match: ${this.root.path}.`,
          this.root.path,
        );
      }
      throw new SchemaError("invalid_schema", `No finite value matches the schema: ${this.root.path}.`, this.root.path);
    }
  }

  /** The node whose values match all of these subschemas. */
  node(subschemas: readonly SubschemaRef[], path: string, among: ValueConstraints = ANY_VALUE): Node {
    const distinct = new Map(
      subschemas.filter(({ schema }) => schema !== true).map((subschema) => [subschema.pointer, subschema]),
    );
    const key = [...distinct.keys(), ...(among === ANY_VALUE ? [] : ["restricted"])].sort().join("\n");
    const existing = this.#nodes.get(key);
    if (existing) {
      return existing;
    }
    if (this.#nodes.size >= LIMITS.nodes) {
      throw new SchemaError(
        "too_complex",
        `The schema has more than ${LIMITS.nodes} distinct locations for values: ${path}.`,
        path,
      );
    }
    const [first] = distinct.values();
    const node = { key, path: first?.path ?? path, alternatives: [] as ValueConstraints[], isComplete: false };
    this.#nodes.set(key, node);
    let alternatives: ValueConstraints[] = [among];
    for (const subschema of distinct.values()) {
      alternatives = this.#intersection.intersect(alternatives, subschema);
    }
    node.alternatives = [
      ...new Map(alternatives.map((constraints) => [constraintsKey(constraints), constraints])).values(),
    ];
    node.isComplete = true;
    return node;
  }

  isSatisfiable(node: Node): boolean {
    return this.#satisfiable.has(node.key);
  }

  /** The types that have a finite matching value. */
  satisfiableTypes(constraints: ValueConstraints): JsonType[] {
    return [...constraints.types].filter((type) => {
      switch (type) {
        case "number":
          return this.numberAutomaton(constraints) !== undefined;
        case "string":
          return !this.stringLanguage(constraints)?.isEmpty;
        case "array":
          return this.#isArraySatisfiable(constraints);
        case "object":
          return this.#isObjectSatisfiable(constraints);
        default:
          return true;
      }
    });
  }

  /** The literals that satisfy the rest of the constraints. */
  literals(constraints: ValueConstraints): unknown[] {
    return this.#generatedLiterals.matching(constraints);
  }

  numberAutomaton(constraints: ValueConstraints): Automaton | undefined {
    return this.#languages.numberAutomaton(constraints);
  }

  /** Language of the matching strings. Undefined when at most the length is constrained. */
  stringLanguage(constraints: ValueConstraints, which: "generated" | "valid" = "generated"): DFA | undefined {
    return this.#languages.stringLanguage(constraints, which);
  }

  item(constraints: ValueConstraints, index: number): Node {
    return this.node(itemSubschemas(constraints, index), `${this.#path}.items`);
  }

  /** Number of leading items with constraints that differ from the rest. */
  distinctItemCount(constraints: ValueConstraints): number {
    return Math.max(0, ...constraints.array.groups.map(({ prefix }) => prefix.length));
  }

  /** The named properties of an object, without unsatisfiable ones. */
  members(constraints: ValueConstraints): Member[] {
    return this.#namedMembers(constraints).filter(({ node }) => this.isSatisfiable(node));
  }

  /** The properties that no schema names, by the patterns that their names match. Empty when none are allowed. */
  additional(constraints: ValueConstraints): AdditionalProperties[] {
    if (this.#listedNames(constraints) !== undefined) {
      return [];
    }
    return this.#nameLanguages.classes(constraints, this.#names(constraints)).flatMap(({ patterns, names }) => {
      const node = this.property(constraints, patterns);
      return isOpenTo(constraints, patterns) && this.isSatisfiable(node) ? [{ node, names }] : [];
    });
  }

  property(constraints: ValueConstraints, key: PropertyKey): Node {
    const subschemas = propertySubschemas(constraints, key, (pattern, name) =>
      this.#nameLanguages.matches(pattern, name, constraints),
    );
    return this.node(subschemas, `${this.#path}.properties`);
  }

  /** The node of an item that matches `contains`. Undefined without `contains`. */
  contained(constraints: ValueConstraints, index: number): Node | undefined {
    const [first] = constraints.array.contains;
    return first && this.node([...itemSubschemas(constraints, index), first], first.path);
  }

  /** The values that the items of an array may have; undefined if they are not listed, or not the same for all items. */
  listedItems(constraints: ValueConstraints): unknown[] | undefined {
    if (this.distinctItemCount(constraints) > 0) {
      return undefined;
    }
    const { alternatives } = this.item(constraints, 0);
    if (
      alternatives.some(({ literals, types }) => literals === undefined && [...types].some((type) => !isListed(type)))
    ) {
      return undefined;
    }
    const values = alternatives.flatMap((item) =>
      item.literals === undefined
        ? [...item.types].flatMap((type) => (type === "null" ? [null] : [true, false]))
        : this.literals(item),
    );
    return [...new Map(values.map((value) => [literalKey(value), value])).values()];
  }

  /** Records that the grammar does not enforce a keyword. Throws a SchemaError when everything has to be enforced. */
  leaveUnenforced(keyword: string, path: string): void {
    const message = `\`${keyword}\` cannot be enforced during generation (${path}).`;
    this.#document.leaveUnenforced(new SchemaError("unsupported", message, path));
  }

  /** All nodes directly inside values of these constraints. */
  children(constraints: ValueConstraints): Node[] {
    if (constraints.literals !== undefined) {
      return [];
    }
    const items = constraints.types.has("array")
      ? Array.from({ length: this.distinctItemCount(constraints) + 1 }, (_, index) => [
          this.item(constraints, index),
          this.contained(constraints, index) ?? [],
        ]).flat(2)
      : [];
    const properties = constraints.types.has("object")
      ? [
          ...propertyNames(constraints),
          ...(this.#listedNames(constraints) ?? []),
          ...this.#nameLanguages.classes(constraints, this.#names(constraints)).map(({ patterns }) => patterns),
        ].map((key) => this.property(constraints, key))
      : [];
    return [...items, ...properties];
  }

  #namedMembers(constraints: ValueConstraints): readonly Member[] {
    let members = this.#members.get(constraints);
    if (members === undefined) {
      const names = new Set([...propertyNames(constraints), ...(this.#listedNames(constraints) ?? [])]);
      const required = new Set(constraints.object.required);
      members = [...names]
        .filter((name) => this.isNameAllowed(constraints, name))
        .map((name) => ({ name, node: this.property(constraints, name), required: required.has(name) }));
      this.#members.set(constraints, members);
    }
    return members;
  }

  #findSatisfiable(): void {
    const containers = new Map<Node, Node[]>([[this.root, []]]);
    for (const node of containers.keys()) {
      for (const child of new Set(node.alternatives.flatMap((constraints) => this.children(constraints)))) {
        const previous = containers.get(child);
        if (previous) {
          previous.push(node);
        } else {
          containers.set(child, [node]);
        }
      }
    }
    const open = new Set([...containers.keys()].reverse());
    for (const node of open) {
      open.delete(node);
      if (!this.isSatisfiable(node) && node.alternatives.some((constraints) => this.#areSatisfiable(constraints))) {
        this.#satisfiable.add(node.key);
        for (const container of containers.get(node) ?? []) {
          open.add(container);
        }
      }
    }
  }

  #areSatisfiable(constraints: ValueConstraints): boolean {
    return constraints.literals === undefined
      ? this.satisfiableTypes(constraints).length > 0
      : this.literals(constraints).length > 0;
  }

  requiredItems(constraints: ValueConstraints): Node[] {
    const distinct = Math.min(constraints.array.min, this.distinctItemCount(constraints) + 1);
    return Array.from({ length: distinct }, (_, index) => this.item(constraints, index));
  }

  #isObjectSatisfiable(constraints: ValueConstraints): boolean {
    const members = this.members(constraints);
    const required = members.filter((member) => member.required);
    return (
      required.length === constraints.object.required.length &&
      (members.length >= constraints.object.min || this.additional(constraints).length > 0)
    );
  }

  #isArraySatisfiable(constraints: ValueConstraints): boolean {
    const { min, max = Infinity, unique, contains } = constraints.array;
    if (!this.requiredItems(constraints).every((node) => this.isSatisfiable(node))) {
      return false;
    }
    if (unique.length > 0 && min > (this.listedItems(constraints)?.length ?? Infinity)) {
      return false;
    }
    const places = Math.min(max, this.distinctItemCount(constraints) + 1);
    return (
      contains.length === 0 ||
      Array.from({ length: places }, (_, index) => this.contained(constraints, index)).some(
        (node) => node !== undefined && this.isSatisfiable(node),
      )
    );
  }

  #names(constraints: ValueConstraints): Node {
    return this.node(constraints.object.names, `${this.#path}.propertyNames`);
  }

  /** The allowed property names, when the schema enumerates them. */
  #listedNames(constraints: ValueConstraints): string[] | undefined {
    const alternatives = this.#names(constraints).alternatives.filter(({ types }) => types.has("string"));
    return constraints.object.names.length > 0 && alternatives.every(({ literals }) => literals !== undefined)
      ? alternatives.flatMap((names) => this.literals(names)).filter((name) => typeof name === "string")
      : undefined;
  }

  isNameAllowed(constraints: ValueConstraints, name: string, check: ValueCheck = this.#generatedLiterals): boolean {
    return (
      constraints.object.names.length === 0 ||
      this.#names(constraints).alternatives.some((names) => check.accepts(names, name))
    );
  }
}

/** Types whose values can be listed. */
const isListed = (type: JsonType) => type === "null" || type === "boolean";
