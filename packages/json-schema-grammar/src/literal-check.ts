/** Checks values of `enum` and `const` against the rest of the schema. */

import { isWithinBounds } from "./number-language.ts";
import type { Node, NodeLookup, ValueCheck } from "./schema-node.ts";
import { codePoints } from "./string-language.ts";
import { literalKey, typeOf, type ValueConstraints } from "./value-constraints.ts";

export class LiteralCheck implements ValueCheck {
  readonly #graph: NodeLookup;
  readonly #which: "generated" | "valid";
  readonly #literalKeys = new WeakMap<readonly unknown[], ReadonlySet<string>>();
  readonly #known = new WeakMap<object, Map<Node, boolean>>();

  /** `which`: for strings with a format, accept those that are generated, or all valid ones. */
  constructor(graph: NodeLookup, which: "generated" | "valid") {
    this.#graph = graph;
    this.#which = which;
  }

  /** The literals that satisfy the rest of the constraints. */
  matching(constraints: ValueConstraints): unknown[] {
    return (constraints.literals ?? []).filter((value) => this.accepts({ ...constraints, literals: undefined }, value));
  }

  #matchesLiteral({ literals }: ValueConstraints, value: unknown): boolean {
    if (literals === undefined) {
      return true;
    }
    const keys = this.#literalKeys.get(literals) ?? new Set(literals.map(literalKey));
    this.#literalKeys.set(literals, keys);
    return keys.has(literalKey(value));
  }

  /** Also true while a node is incomplete, since the value may still match. */
  accepts(constraints: ValueConstraints, value: unknown): boolean {
    const type = typeOf(value);
    if (!constraints.types.has(type) || !this.#matchesLiteral(constraints, value)) {
      return false;
    }
    const isCount = ({ min, max }: { min: number; max: number | undefined }, count: number) =>
      count >= min && count <= (max ?? Infinity);
    switch (type) {
      case "number":
        return isWithinBounds(constraints.number, value as number);
      case "string": {
        const characters = codePoints(value as string);
        return (
          isCount(constraints.string, characters.length) &&
          (this.#graph.stringLanguage(constraints, this.#which)?.test(characters) ?? true)
        );
      }
      case "array": {
        const items = value as unknown[];
        return (
          isCount(constraints.array, items.length) &&
          (constraints.array.unique.length === 0 || new Set(items.map(literalKey)).size === items.length) &&
          constraints.array.contains.every((subschema) =>
            items.some((item) => this.#nodeAccepts(this.#graph.node([subschema], subschema.path), item)),
          ) &&
          items.every((item, index) => this.#nodeAccepts(this.#graph.item(constraints, index), item))
        );
      }
      case "object": {
        const entries = Object.entries(value as object);
        return (
          isCount(constraints.object, entries.length) &&
          constraints.object.required.every((name) => Object.hasOwn(value as object, name)) &&
          entries.every(
            ([name, inner]) =>
              this.#graph.isNameAllowed(constraints, name, this) &&
              this.#nodeAccepts(this.#graph.property(constraints, name), inner),
          )
        );
      }
      default:
        return true;
    }
  }

  #nodeAccepts(node: Node, value: unknown): boolean {
    const isNested = typeof value === "object" && value !== null;
    const cached = isNested ? this.#known.get(value)?.get(node) : undefined;
    if (cached !== undefined || !node.isComplete) {
      return cached ?? true;
    }
    const accepted = node.alternatives.some((constraints) => this.accepts(constraints, value));
    if (isNested) {
      this.#known.set(value, (this.#known.get(value) ?? new Map()).set(node, accepted));
    }
    return accepted;
  }
}
