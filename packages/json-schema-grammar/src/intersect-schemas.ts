/** Intersects schemas that apply to the same value: expands references, combinators and conditions into alternatives. */

import { applyKeywords, unsupportedKeyword } from "./keywords.ts";
import { LIMITS } from "./limits.ts";
import type { Keywords, SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { type Violations, violateKeywords, withoutProperty } from "./schema-negation.ts";
import { constraintsKey, type ValueConstraints, withObject, withTypes } from "./value-constraints.ts";

/** How a subschema came to apply to a value. */
interface Origin {
  /** Pointers of the subschemas that led here without a level of nesting between. */
  chain: readonly string[];
  /** Its properties distinguish cases, as those of `if` do, and do not list the properties of the object. */
  isCondition: boolean;
}

const ROOT: Origin = { chain: [], isCondition: false };

export class SchemaIntersection {
  readonly #document: SchemaDocument;
  /** Proves that no value matches, which shows that the branches of `oneOf` are disjoint. */
  readonly #isEmpty: (constraints: ValueConstraints) => boolean;
  #merges = 0;
  #isNarrowed = false;

  constructor(document: SchemaDocument, isEmpty: (constraints: ValueConstraints) => boolean) {
    this.#document = document;
    this.#isEmpty = isEmpty;
  }

  /** Whether valid values were left out, because constraints cannot describe all that violate some schema. */
  get isNarrowed(): boolean {
    return this.#isNarrowed;
  }

  /** Intersects the alternatives with a subschema. Throws a SchemaError for what cannot be enforced. */
  intersect(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    origin: Origin = ROOT,
  ): ValueConstraints[] {
    if (typeof subschema.schema === "boolean") {
      return subschema.schema ? [...alternatives] : [];
    }
    const schema: Keywords = subschema.schema;
    this.#count(alternatives.length + 1, subschema);
    const inner = this.#enter(subschema, origin);
    let result = alternatives.flatMap(
      (constraints) => applyKeywords(constraints, subschema, this.#document, origin.isCondition) ?? [],
    );
    if (typeof schema.$ref === "string") {
      result = this.intersect(result, this.#target(subschema, schema.$ref, inner), inner);
    }
    for (const branch of this.#branches(subschema, "allOf")) {
      result = this.intersect(result, branch, inner);
    }
    if (schema.anyOf !== undefined) {
      const branches = this.#branches(subschema, "anyOf");
      result = this.#bounded(
        branches.flatMap((branch) => this.intersect(result, branch, inner)),
        subschema,
      );
    }
    if (schema.oneOf !== undefined) {
      result = this.#bounded(this.#exactlyOne(result, subschema, inner), subschema);
    }
    if (schema.not !== undefined) {
      result = this.#withoutMatches(result, this.#document.child(subschema, "not"), inner, () =>
        unsupportedKeyword(subschema, "not"),
      );
    }
    if (schema.if !== undefined && (schema.then !== undefined || schema.else !== undefined)) {
      result = this.#withCondition(result, subschema, inner);
    }
    return this.#withDependencies(result, subschema, inner);
  }

  /** The values of the alternatives that violate the subschema; possibly not all of them. */
  #violate(alternatives: readonly ValueConstraints[], subschema: SubschemaRef, origin: Origin): Violations {
    if (typeof subschema.schema === "boolean") {
      return { alternatives: subschema.schema ? [] : [...alternatives], isComplete: true };
    }
    const schema: Keywords = subschema.schema;
    this.#count(alternatives.length + 1, subschema);
    const inner = { ...this.#enter(subschema, origin), isCondition: true };
    const parts: Violations[] = alternatives.map((constraints) =>
      violateKeywords(constraints, subschema, this.#document),
    );
    if (typeof schema.$ref === "string") {
      parts.push(this.#violate(alternatives, this.#target(subschema, schema.$ref, inner), inner));
    }
    parts.push(...this.#branches(subschema, "allOf").map((branch) => this.#violate(alternatives, branch, inner)));
    for (const keyword of ["anyOf", "oneOf"] as const) {
      if (schema[keyword] !== undefined) parts.push(this.#violateAll(alternatives, subschema, keyword, inner));
    }
    if (schema.not !== undefined) {
      const matches = this.intersect(alternatives, this.#document.child(subschema, "not"), inner);
      parts.push({ alternatives: matches, isComplete: true });
    }
    if (schema.if !== undefined && (schema.then !== undefined || schema.else !== undefined)) {
      parts.push(...this.#violateCondition(alternatives, subschema, schema, inner));
    }
    return {
      alternatives: this.#bounded(this.#possible(parts.flatMap((part) => part.alternatives)), subschema),
      isComplete: parts.every(({ isComplete }) => isComplete),
    };
  }

  /** The values that violate every branch. */
  #violateAll(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    keyword: "anyOf" | "oneOf",
    inner: Origin,
  ): Violations {
    const none: Violations = { alternatives: [...alternatives], isComplete: keyword === "anyOf" };
    for (const branch of this.#branches(subschema, keyword)) {
      const next = this.#violate(none.alternatives, branch, inner);
      none.alternatives = this.#possible(next.alternatives);
      none.isComplete &&= next.isComplete;
    }
    return none;
  }

  #violateCondition(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    schema: Keywords,
    inner: Origin,
  ): Violations[] {
    const condition = this.#document.child(subschema, "if");
    const holds = this.intersect(alternatives, condition, inner);
    const fails = this.#violate(alternatives, condition, inner);
    const cases = [["then", holds] as const, ["else", fails.alternatives] as const];
    const violations = cases.flatMap(([name, values]) =>
      schema[name] === undefined ? [] : [this.#violate(values, this.#document.child(subschema, name), inner)],
    );
    return [...violations, { alternatives: [], isComplete: fails.isComplete }];
  }

  /** Removes the values that match. Where none are certain not to, `refusal` says that the keyword is not enforced. */
  #withoutMatches(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    origin: Origin,
    refusal: () => SchemaError,
  ): ValueConstraints[] {
    const violations = this.#violate(alternatives, subschema, origin);
    if (violations.isComplete) return violations.alternatives;
    if (violations.alternatives.length > 0) {
      this.#isNarrowed = true;
      return violations.alternatives;
    }
    if (alternatives.length > 0) this.#document.leaveUnenforced(refusal());
    return [...alternatives];
  }

  #withCondition(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    origin: Origin,
  ): ValueConstraints[] {
    const schema = subschema.schema as Keywords;
    const condition = this.#document.child(subschema, "if");
    const implied = (values: readonly ValueConstraints[], name: "then" | "else") =>
      schema[name] === undefined ? values : this.intersect(values, this.#document.child(subschema, name), origin);
    const holds = this.#possible(this.intersect(alternatives, condition, { ...origin, isCondition: true }));
    const fails = this.#withoutMatches(alternatives, condition, origin, () => unsupportedKeyword(subschema, "if"));
    return this.#bounded(this.#possible([...implied(holds, "then"), ...implied(fails, "else")]), subschema);
  }

  /** `dependentRequired`, `dependentSchemas` and their older name, `dependencies`. */
  #withDependencies(
    alternatives: readonly ValueConstraints[],
    subschema: SubschemaRef,
    origin: Origin,
  ): ValueConstraints[] {
    let result = [...alternatives];
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"] as const) {
      const dependencies = Object.entries(((subschema.schema as Keywords)[keyword] ?? {}) as Record<string, unknown>);
      for (const [name, dependency] of dependencies) {
        if (name === "__proto__") throw unsupportedKeyword(subschema, keyword, "of the name `__proto__` is not");
        const absent = result.flatMap((constraints) => withoutProperty(constraints, name, subschema.path) ?? []);
        const present = result.flatMap((constraints) => {
          const objects = withTypes(constraints, ["object"]);
          const required = Array.isArray(dependency) ? [name, ...(dependency as string[])] : [name];
          return (objects && withObject(objects, { required })) ?? [];
        });
        const implied = Array.isArray(dependency)
          ? present
          : this.intersect(present, this.#document.child(subschema, keyword, name), origin);
        result = this.#bounded(this.#possible([...implied, ...absent]), subschema);
      }
    }
    return result;
  }

  #exactlyOne(alternatives: readonly ValueConstraints[], subschema: SubschemaRef, origin: Origin): ValueConstraints[] {
    const branches = this.#branches(subschema, "oneOf");
    const matching = branches.map((branch) => this.intersect(alternatives, branch, origin));
    return matching.flatMap((values, index) => {
      let result = values;
      for (const [other, branch] of branches.entries()) {
        if (other === index || this.#areDisjoint(matching, branches, index, other, origin)) continue;
        const both = `branches ${Math.min(index, other)} and ${Math.max(index, other)}`;
        result = this.#withoutMatches(result, branch, { ...origin, isCondition: true }, () =>
          unsupportedKeyword(subschema, "oneOf", `whose ${both} are not provably disjoint is not`),
        );
      }
      return result;
    });
  }

  #areDisjoint(
    matching: readonly ValueConstraints[][],
    branches: readonly SubschemaRef[],
    left: number,
    right: number,
    origin: Origin,
  ): boolean {
    const [values, branch] = left < right ? [matching[left], branches[right]] : [matching[right], branches[left]];
    return this.intersect(values ?? [], branch as SubschemaRef, origin).every(this.#isEmpty);
  }

  /** Without duplicates and those that no value matches, which would multiply with each further condition. */
  #possible(alternatives: readonly ValueConstraints[]): ValueConstraints[] {
    const distinct = new Map(alternatives.map((constraints) => [constraintsKey(constraints), constraints]));
    return [...distinct.values()].filter((constraints) => !this.#isEmpty(constraints));
  }

  #branches(subschema: SubschemaRef, keyword: "allOf" | "anyOf" | "oneOf"): SubschemaRef[] {
    const branches = ((subschema.schema as Keywords)[keyword] ?? []) as readonly unknown[];
    return branches.map((_, index) => this.#document.child(subschema, keyword, index));
  }

  #enter({ pointer }: SubschemaRef, origin: Origin): Origin {
    return { ...origin, chain: [...origin.chain, pointer] };
  }

  #target(subschema: SubschemaRef, reference: string, { chain }: Origin): SubschemaRef {
    const target = this.#document.resolve(reference, subschema);
    if (chain.includes(target.pointer)) {
      const path = `${subschema.path}.$ref`;
      throw new SchemaError(
        "invalid_schema",
        `\`${reference}\` refers to itself without a level of nesting between: ${path}.`,
        path,
      );
    }
    return target;
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
