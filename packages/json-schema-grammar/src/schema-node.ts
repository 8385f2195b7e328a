/** Types of the graph of locations, shared by the graph, its checks and its proofs. */

import type { DFA } from "refa";
import type { SubschemaRef } from "./schema-document.ts";
import type { PropertyKey, ValueConstraints } from "./value-constraints.ts";

/** A location of values, which match at least one of its alternatives. */
export interface Node {
  readonly key: string;
  readonly path: string;
  readonly alternatives: readonly ValueConstraints[];
  /** False while the alternatives are still being computed: nothing can be inferred from them yet. */
  readonly isComplete: boolean;
}

/** A named property of an object. `name` is unescaped. */
export interface Member {
  name: string;
  node: Node;
  required: boolean;
}

/** Properties that no schema names, whose names match the same patterns. */
export interface AdditionalProperties {
  node: Node;
  /** Constraints of their names. */
  names: ValueConstraints;
}

/** Decides whether a value satisfies constraints. */
export interface ValueCheck {
  accepts(constraints: ValueConstraints, value: unknown): boolean;
}

/** Lookups in a SchemaGraph that checks and proofs need. */
export interface NodeLookup {
  node(subschemas: readonly SubschemaRef[], path: string): Node;
  item(constraints: ValueConstraints, index: number): Node;
  /** One node per leading item that is required and has separate constraints. */
  requiredItems(constraints: ValueConstraints): Node[];
  property(constraints: ValueConstraints, key: PropertyKey): Node;
  isNameAllowed(constraints: ValueConstraints, name: string, check?: ValueCheck): boolean;
  stringLanguage(constraints: ValueConstraints, which: "generated" | "valid"): DFA | undefined;
}
