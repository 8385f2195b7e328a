/** Brings schemas together that have to hold at once: `$ref`, `allOf`, `anyOf` and `oneOf` multiplied out. */

import { invalidRequest } from "../faults.ts";
import { refusal, withKeywords } from "./keywords.ts";
import { LIMITS } from "./limits.ts";
import type { Keywords, Place, SchemaDocument } from "./schema-document.ts";
import type { Shape } from "./shape.ts";

export class Conjunction {
  readonly #document: SchemaDocument;
  /** Whether surely no value fits; asked to prove that branches of `oneOf` exclude each other. */
  readonly #isEmpty: (shape: Shape) => boolean;
  #merges = 0;

  constructor(document: SchemaDocument, isEmpty: (shape: Shape) => boolean) {
    this.#document = document;
    this.#isEmpty = isEmpty;
  }

  /** A value fits the result when it fits one of the shapes and the schema. Throws a Fault for what cannot be enforced. */
  add(shapes: readonly Shape[], place: Place, referredBy: readonly string[] = []): Shape[] {
    if (typeof place.schema === "boolean") {
      return place.schema ? [...shapes] : [];
    }
    const schema: Keywords = place.schema;
    this.#count(shapes.length + 1, place);
    let result = shapes.flatMap((shape) => withKeywords(shape, place, this.#document) ?? []);
    if (typeof schema.$ref === "string") {
      const path = `${place.path}.$ref`;
      const target = this.#document.referred(schema.$ref, path);
      const chain = [...referredBy, place.pointer];
      if (chain.includes(target.pointer)) {
        throw invalidRequest(`\`${schema.$ref}\` refers to itself without end: ${path}.`, path, "invalid_value");
      }
      result = this.add(result, target, chain);
    }
    const chain = [...referredBy, place.pointer];
    for (const branch of this.#branches(place, "allOf")) {
      result = this.add(result, branch, chain);
    }
    if (schema.anyOf !== undefined) {
      const branches = this.#branches(place, "anyOf");
      result = this.#bounded(
        branches.flatMap((branch) => this.add(result, branch, chain)),
        place,
      );
    }
    if (schema.oneOf !== undefined) {
      const branches = this.#branches(place, "oneOf");
      const fitting = branches.map((branch) => this.add(result, branch, chain));
      this.#checkDisjoint(place, branches, fitting, chain);
      result = this.#bounded(fitting.flat(), place);
    }
    return result;
  }

  #branches(place: Place, keyword: "allOf" | "anyOf" | "oneOf"): Place[] {
    const branches = ((place.schema as Keywords)[keyword] ?? []) as readonly unknown[];
    return branches.map((_, index) => this.#document.below(place, keyword, index));
  }

  #checkDisjoint(
    place: Place,
    branches: readonly Place[],
    fitting: readonly Shape[][],
    chain: readonly string[],
  ): void {
    for (const [index, shapes] of fitting.entries()) {
      for (const other of branches.slice(index + 1)) {
        if (!this.add(shapes, other, chain).every(this.#isEmpty)) {
          const both = `branches ${index} and ${branches.indexOf(other)}`;
          throw refusal(place, "oneOf", `of which ${both} do not visibly exclude each other is not`);
        }
      }
    }
  }

  #bounded(shapes: Shape[], place: Place): Shape[] {
    if (shapes.length > LIMITS.alternatives) {
      throw invalidRequest(
        `The schema leaves more than ${LIMITS.alternatives} alternatives at one place: ${place.path}.`,
        place.path,
        "invalid_value",
      );
    }
    return shapes;
  }

  #count(merges: number, place: Place): void {
    this.#merges += merges;
    if (this.#merges > LIMITS.merges) {
      throw invalidRequest(
        `The schema takes more than ${LIMITS.merges} steps to bring together: ${place.path}.`,
        place.path,
        "invalid_value",
      );
    }
  }
}
