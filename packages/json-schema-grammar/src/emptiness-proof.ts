/** Proves that no value matches constraints. */

import { LiteralCheck } from "./literal-check.ts";
import { isProvablyEmptyRange } from "./number-language.ts";
import type { Node, NodeLookup } from "./schema-node.ts";
import type { ValueConstraints } from "./value-constraints.ts";

/** Nesting depth of proofs. */
const PROOF_DEPTH = 4;

export class EmptinessProof {
  readonly #graph: NodeLookup;
  /** All valid literals: two branches can share a valid string that neither generates. */
  readonly #validLiterals: LiteralCheck;
  readonly #empty = new WeakMap<ValueConstraints, Map<number, boolean>>();

  constructor(graph: NodeLookup) {
    this.#graph = graph;
    this.#validLiterals = new LiteralCheck(graph, "valid");
  }

  /** True only if no value matches; false also when the proof would have to go deeper than `depth`. */
  isProvablyEmpty(constraints: ValueConstraints, depth: number = PROOF_DEPTH): boolean {
    const cached = this.#empty.get(constraints)?.get(depth);
    if (cached !== undefined) {
      return cached;
    }
    const isEmpty = this.#proveEmpty(constraints, depth);
    this.#empty.set(constraints, (this.#empty.get(constraints) ?? new Map()).set(depth, isEmpty));
    return isEmpty;
  }

  #proveEmpty(constraints: ValueConstraints, depth: number): boolean {
    if (constraints.literals !== undefined) {
      return this.#validLiterals.matching(constraints).length === 0;
    }
    const isNodeEmpty = (node: Node) =>
      depth > 0 && node.isComplete && node.alternatives.every((inner) => this.isProvablyEmpty(inner, depth - 1));
    return [...constraints.types].every((type) => {
      switch (type) {
        case "number":
          return isProvablyEmptyRange(constraints.number);
        case "string":
          return this.#graph.stringLanguage(constraints, "valid")?.isEmpty ?? false;
        case "array":
          return this.#graph.requiredItems(constraints).some(isNodeEmpty);
        case "object":
          return constraints.object.required.some(
            (name) =>
              isNodeEmpty(this.#graph.property(constraints, name)) ||
              !this.#graph.isNameAllowed(constraints, name, this.#validLiterals),
          );
        default:
          return false;
      }
    });
  }
}
