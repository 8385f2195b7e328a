/** Intersects schemas that apply to the same value: expands `$ref`, `allOf`, `anyOf` and `oneOf` into alternatives. */

import { applyKeywords, unsupportedKeyword } from "./keywords.ts";
import { LIMITS } from "./limits.ts";
import type { Keywords, SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import type { ValueConstraints } from "./value-constraints.ts";

export class SchemaIntersection {
  readonly #document: SchemaDocument;
  /** Proves that no value matches, which shows that the branches of `oneOf` are disjoint. */
  readonly #isEmpty: (constraints: ValueConstraints) => boolean;
  #merges = 0;

  constructor(document: SchemaDocument, isEmpty: (constraints: ValueConstraints) => boolean) {
    this.#document = document;
    this.#isEmpty = isEmpty;
  }

  /** Intersects the alternatives with a subschema. Throws a SchemaError for what cannot be enforced. */
  intersect(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    refChain: readonly string[] = [],
  ): ValueConstraints[] {
    if (typeof subschema.schema === "boolean") {
      return subschema.schema ? [...alternatives] : [];
    }
    const schema: Keywords = subschema.schema;
    this.#count(alternatives.length + 1, subschema);
    let result = alternatives.flatMap((constraints) => applyKeywords(constraints, subschema, this.#document) ?? []);
    if (typeof schema.$ref === "string") {
      const path = `${subschema.path}.$ref`;
      const target = this.#document.resolve(schema.$ref, path);
      const chain = [...refChain, subschema.pointer];
      if (chain.includes(target.pointer)) {
        throw new SchemaError(
          "invalid_schema",
          `\`${schema.$ref}\` refers to itself without a level of nesting between: ${path}.`,
          path,
        );
      }
      result = this.intersect(result, target, chain);
    }
    const chain = [...refChain, subschema.pointer];
    for (const branch of this.#branches(subschema, "allOf")) {
      result = this.intersect(result, branch, chain);
    }
    if (schema.anyOf !== undefined) {
      const branches = this.#branches(subschema, "anyOf");
      result = this.#bounded(
        branches.flatMap((branch) => this.intersect(result, branch, chain)),
        subschema,
      );
    }
    if (schema.oneOf !== undefined) {
      const branches = this.#branches(subschema, "oneOf");
      const matching = branches.map((branch) => this.intersect(result, branch, chain));
      this.#checkDisjoint(subschema, branches, matching, chain);
      result = this.#bounded(matching.flat(), subschema);
    }
    return result;
  }

  #branches(subschema: SubschemaRef, keyword: "allOf" | "anyOf" | "oneOf"): SubschemaRef[] {
    const branches = ((subschema.schema as Keywords)[keyword] ?? []) as readonly unknown[];
    return branches.map((_, index) => this.#document.child(subschema, keyword, index));
  }

  #checkDisjoint(
    subschema: SubschemaRef,
    branches: readonly SubschemaRef[],
    matching: readonly ValueConstraints[][],
    chain: readonly string[],
  ): void {
    for (const [index, alternatives] of matching.entries()) {
      for (const other of branches.slice(index + 1)) {
        if (!this.intersect(alternatives, other, chain).every(this.#isEmpty)) {
          const both = `branches ${index} and ${branches.indexOf(other)}`;
          throw unsupportedKeyword(subschema, "oneOf", `whose ${both} are not provably disjoint is not`);
        }
      }
    }
  }

  #bounded(alternatives: ValueConstraints[], subschema: SubschemaRef): ValueConstraints[] {
    if (alternatives.length > LIMITS.alternatives) {
      throw new SchemaError(
        "too_complex",
        `The schema expands to more than ${LIMITS.alternatives} alternatives: ${subschema.path}.`,
        subschema.path,
      );
    }
    return alternatives;
  }

  #count(merges: number, subschema: SubschemaRef): void {
    this.#merges += merges;
    if (this.#merges > LIMITS.merges) {
      throw new SchemaError(
        "too_complex",
        `The schema expands to more than ${LIMITS.merges} intersections: ${subschema.path}.`,
        subschema.path,
      );
    }
  }
}
