/** Whether a literal of the schema fits the rest of it. */

import { withinBounds } from "./number-language.ts";
import type { Node, SchemaGraph } from "./schema-graph.ts";
import { literalKey, type Shape, typeOf } from "./shape.ts";
import { codePoints } from "./text-language.ts";

export class Fitting {
  readonly #graph: SchemaGraph;
  readonly #which: "written" | "valid";
  readonly #literalKeys = new WeakMap<readonly unknown[], ReadonlySet<string>>();
  readonly #known = new WeakMap<object, Map<Node, boolean>>();

  /** `which`: of texts with a format, those that are written, or all that are valid. */
  constructor(graph: SchemaGraph, which: "written" | "valid") {
    this.#graph = graph;
    this.#which = which;
  }

  #isLiteral({ literals }: Shape, value: unknown): boolean {
    if (literals === undefined) {
      return true;
    }
    const keys = this.#literalKeys.get(literals) ?? new Set(literals.map(literalKey));
    this.#literalKeys.set(literals, keys);
    return keys.has(literalKey(value));
  }

  /** Also when it is not yet known all that may stand in a place: then the value may fit. */
  fits(shape: Shape, value: unknown): boolean {
    const type = typeOf(value);
    if (!shape.types.has(type) || !this.#isLiteral(shape, value)) {
      return false;
    }
    const isCount = ({ min, max }: { min: number; max: number | undefined }, count: number) =>
      count >= min && count <= (max ?? Infinity);
    switch (type) {
      case "number":
        return withinBounds(shape.number, value as number);
      case "string": {
        const characters = codePoints(value as string);
        return (
          isCount(shape.text, characters.length) && (this.#graph.texts(shape, this.#which)?.test(characters) ?? true)
        );
      }
      case "array": {
        const items = value as unknown[];
        return (
          isCount(shape.array, items.length) &&
          items.every((item, index) => this.#fitsNode(this.#graph.item(shape, index), item))
        );
      }
      case "object": {
        const entries = Object.entries(value as object);
        return (
          isCount(shape.object, entries.length) &&
          shape.object.required.every((name) => Object.hasOwn(value as object, name)) &&
          entries.every(
            ([name, inner]) =>
              this.#graph.isNameAllowed(shape, name, this) && this.#fitsNode(this.#graph.property(shape, name), inner),
          )
        );
      }
      default:
        return true;
    }
  }

  #fitsNode(node: Node, value: unknown): boolean {
    const isNested = typeof value === "object" && value !== null;
    const known = isNested ? this.#known.get(value)?.get(node) : undefined;
    if (known !== undefined || !node.isComplete) {
      return known ?? true;
    }
    const fits = node.shapes.some((shape) => this.fits(shape, value));
    if (isNested) {
      this.#known.set(value, (this.#known.get(value) ?? new Map()).set(node, fits));
    }
    return fits;
  }
}
