/** Graph of all locations in a value: the constraints that apply at each, and whether any value satisfies them. */

import type { DFA } from "refa";
import type { Automaton } from "./automaton.ts";
import { EmptinessProof } from "./emptiness-proof.ts";
import { SchemaIntersection } from "./intersect-schemas.ts";
import { LanguageCache } from "./language-cache.ts";
import { LIMITS } from "./limits.ts";
import { LiteralCheck } from "./literal-check.ts";
import type { SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import type { Member, Node, NodeLookup, ValueCheck } from "./schema-node.ts";
import {
  ANY_VALUE,
  constraintsKey,
  itemSubschemas,
  type JsonType,
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

  /** `root` restricts the root value. Throws a SchemaError when something cannot be enforced, or when no value matches. */
  constructor(document: SchemaDocument, root: ValueConstraints = ANY_VALUE) {
    this.#path = document.root.path;
    this.#languages = new LanguageCache(this.#path);
    const proof = new EmptinessProof(this);
    this.#intersection = new SchemaIntersection(document, (constraints) => proof.isProvablyEmpty(constraints));
    this.root = this.node([document.root], document.root.path, root);
    this.#findSatisfiable();
    if (!this.isSatisfiable(this.root)) {
      throw new SchemaError("invalid_schema", `No finite value matches the schema: ${this.root.path}.`, this.root.path);
    }
  }

  /** The node whose values match all of these subschemas. */
  node(subschemas: readonly SubschemaRef[], path: string, among: ValueConstraints = ANY_VALUE): Node {
    const distinct = new Map(
      subschemas.filter(({ schema }) => schema !== true).map((subschema) => [subschema.pointer, subschema]),
    );
    const key = [...distinct.keys(), ...(among === ANY_VALUE ? [] : ["restricted"])].sort().join("\n");
    const known = this.#nodes.get(key);
    if (known) {
      return known;
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
          return this.requiredItems(constraints).every((node) => this.isSatisfiable(node));
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

  /**
   * Constraints of additional properties; undefined when none are allowed. A schema with `properties` and without
   * `additionalProperties` is treated as closed, since its author does not want a model to invent properties.
   */
  additional(constraints: ValueConstraints): { node: Node; names: ValueConstraints } | undefined {
    const { groups } = constraints.object;
    const isOpen = groups.length === 0 || groups.some(({ additional }) => additional !== undefined);
    const node = this.property(constraints, undefined);
    if (!isOpen || !this.isSatisfiable(node) || this.#listedNames(constraints) !== undefined) {
      return undefined;
    }
    const names = this.#names(constraints);
    const [texts, ...others] = names.alternatives.filter(({ types }) => types.has("string"));
    if (others.length > 0) {
      throw new SchemaError(
        "unsupported",
        `Property names with more than one alternative cannot be enforced: ${names.path}.`,
        names.path,
      );
    }
    return texts && { node, names: texts };
  }

  property(constraints: ValueConstraints, name: string | undefined): Node {
    return this.node(propertySubschemas(constraints, name), `${this.#path}.properties`);
  }

  /** All nodes directly inside values of these constraints. */
  children(constraints: ValueConstraints): Node[] {
    if (constraints.literals !== undefined) {
      return [];
    }
    const items = constraints.types.has("array")
      ? Array.from({ length: this.distinctItemCount(constraints) + 1 }, (_, index) => this.item(constraints, index))
      : [];
    const properties = constraints.types.has("object")
      ? [...propertyNames(constraints), ...(this.#listedNames(constraints) ?? []), undefined].map((name) =>
          this.property(constraints, name),
        )
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
        const known = containers.get(child);
        if (known) {
          known.push(node);
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
      (members.length >= constraints.object.min || this.additional(constraints) !== undefined)
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
