/** All places at which a value may stand, what may stand there, and whether anything can. */

import type { DFA } from "refa";
import { invalidRequest, unsupportedValue } from "../faults.ts";
import type { Automaton } from "./automaton.ts";
import { Conjunction } from "./conjoin.ts";
import { Fitting } from "./fitting.ts";
import { Languages } from "./languages.ts";
import { LIMITS } from "./limits.ts";
import { hasNoNumber } from "./number-language.ts";
import type { Place, SchemaDocument } from "./schema-document.ts";
import { ANY_VALUE, itemPlaces, type JsonType, propertyNames, propertyPlaces, type Shape, shapeKey } from "./shape.ts";

/** One place for values: they fit one of its shapes. */
export interface Node {
  readonly key: string;
  readonly path: string;
  readonly shapes: readonly Shape[];
  /** While its shapes are being found, nothing may be concluded from them. */
  readonly isComplete: boolean;
}

/** What an object may have; `name` as it is, `node` for its value. */
export interface Member {
  name: string;
  node: Node;
  required: boolean;
}

/** How far a proof that nothing fits looks into values. */
const PROOF_DEPTH = 4;

export class SchemaGraph {
  readonly root: Node;
  readonly #path: string;
  readonly #nodes = new Map<string, Node>();
  readonly #possible = new Set<string>();
  readonly #languages: Languages;
  readonly #fitting = new Fitting(this, "written");
  /** For proofs: two branches may both have a text that neither would write. */
  readonly #validFitting = new Fitting(this, "valid");
  readonly #empty = new WeakMap<Shape, Map<number, boolean>>();
  readonly #members = new WeakMap<Shape, readonly Member[]>();
  readonly #conjunction: Conjunction;

  /** Of `root` alone. Throws a Fault when something in it cannot be enforced, or when no value at all fits. */
  constructor(document: SchemaDocument, root: Shape = ANY_VALUE) {
    this.#path = document.root.path;
    this.#languages = new Languages(this.#path);
    this.#conjunction = new Conjunction(document, (shape) => this.#isSurelyEmpty(shape, PROOF_DEPTH));
    this.root = this.node([document.root], document.root.path, root);
    this.#findPossible();
    if (!this.isPossible(this.root)) {
      throw invalidRequest(
        `No value of finite size fits the schema: ${this.root.path}.`,
        this.root.path,
        "invalid_value",
      );
    }
  }

  /** Where values have to fit all of these schemas. */
  node(places: readonly Place[], path: string, among: Shape = ANY_VALUE): Node {
    const distinct = new Map(places.filter(({ schema }) => schema !== true).map((place) => [place.pointer, place]));
    const key = [...distinct.keys(), ...(among === ANY_VALUE ? [] : ["of some values"])].sort().join("\n");
    const known = this.#nodes.get(key);
    if (known) {
      return known;
    }
    if (this.#nodes.size >= LIMITS.nodes) {
      throw invalidRequest(`The schema has more than ${LIMITS.nodes} places for values.`, path, "invalid_value");
    }
    const [first] = distinct.values();
    const node = { key, path: first?.path ?? path, shapes: [] as Shape[], isComplete: false };
    this.#nodes.set(key, node);
    let shapes: Shape[] = [among];
    for (const place of distinct.values()) {
      shapes = this.#conjunction.add(shapes, place);
    }
    node.shapes = [...new Map(shapes.map((shape) => [shapeKey(shape), shape])).values()];
    node.isComplete = true;
    return node;
  }

  isPossible(node: Node): boolean {
    return this.#possible.has(node.key);
  }

  /** The types of which some value of finite size fits. */
  possibleTypes(shape: Shape): JsonType[] {
    return [...shape.types].filter((type) => {
      switch (type) {
        case "number":
          return this.numbers(shape) !== undefined;
        case "string":
          return !this.texts(shape)?.isEmpty;
        case "array":
          return this.#leastItems(shape).every((node) => this.isPossible(node));
        case "object":
          return this.#isObjectPossible(shape);
        default:
          return true;
      }
    });
  }

  /** Of a shape's literals, those that fit the rest of it too. */
  literals(shape: Shape, fitting: Fitting = this.#fitting): unknown[] {
    return (shape.literals ?? []).filter((value) => fitting.fits({ ...shape, literals: undefined }, value));
  }

  numbers(shape: Shape): Automaton | undefined {
    return this.#languages.numbers(shape);
  }

  /** Undefined: any text, of any length or of the length alone that the shape tells. */
  texts(shape: Shape, which: "written" | "valid" = "written"): DFA | undefined {
    return this.#languages.texts(shape, which);
  }

  item(shape: Shape, index: number): Node {
    return this.node(itemPlaces(shape, index), `${this.#path}.items`);
  }

  /** From so many items on, all are alike. */
  distinctItems(shape: Shape): number {
    return Math.max(0, ...shape.array.groups.map(({ prefix }) => prefix.length));
  }

  /** The properties that an object may have by name, without those that no value fits. */
  members(shape: Shape): Member[] {
    return this.#namedMembers(shape).filter(({ node }) => this.isPossible(node));
  }

  /**
   * What properties of other names have to fit; undefined when there are none. A schema that describes properties and says
   * nothing of others is taken as closed: whoever writes one does not want a model to invent more.
   */
  additional(shape: Shape): { node: Node; names: Shape } | undefined {
    const { groups } = shape.object;
    const isOpen = groups.length === 0 || groups.some(({ additional }) => additional !== undefined);
    const node = this.property(shape, undefined);
    if (!isOpen || !this.isPossible(node) || this.#onlyNames(shape) !== undefined) {
      return undefined;
    }
    const names = this.#names(shape);
    const [texts, ...others] = names.shapes.filter(({ types }) => types.has("string"));
    if (others.length > 0) {
      throw unsupportedValue(`Names that may be of several kinds cannot be enforced: ${names.path}.`, names.path);
    }
    return texts && { node, names: texts };
  }

  property(shape: Shape, name: string | undefined): Node {
    return this.node(propertyPlaces(shape, name), `${this.#path}.properties`);
  }

  /** Every node that values of this one contain. */
  children(shape: Shape): Node[] {
    if (shape.literals !== undefined) {
      return [];
    }
    const items = shape.types.has("array")
      ? Array.from({ length: this.distinctItems(shape) + 1 }, (_, index) => this.item(shape, index))
      : [];
    const properties = shape.types.has("object")
      ? [...propertyNames(shape), ...(this.#onlyNames(shape) ?? []), undefined].map((name) =>
          this.property(shape, name),
        )
      : [];
    return [...items, ...properties];
  }

  #namedMembers(shape: Shape): readonly Member[] {
    let members = this.#members.get(shape);
    if (members === undefined) {
      const names = new Set([...propertyNames(shape), ...(this.#onlyNames(shape) ?? [])]);
      const required = new Set(shape.object.required);
      members = [...names]
        .filter((name) => this.isNameAllowed(shape, name))
        .map((name) => ({ name, node: this.property(shape, name), required: required.has(name) }));
      this.#members.set(shape, members);
    }
    return members;
  }

  #findPossible(): void {
    const containers = new Map<Node, Node[]>([[this.root, []]]);
    for (const node of containers.keys()) {
      for (const child of new Set(node.shapes.flatMap((shape) => this.children(shape)))) {
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
      if (!this.isPossible(node) && node.shapes.some((shape) => this.#isShapePossible(shape))) {
        this.#possible.add(node.key);
        for (const container of containers.get(node) ?? []) {
          open.add(container);
        }
      }
    }
  }

  #isShapePossible(shape: Shape): boolean {
    return shape.literals === undefined ? this.possibleTypes(shape).length > 0 : this.literals(shape).length > 0;
  }

  #leastItems(shape: Shape): Node[] {
    const distinct = Math.min(shape.array.min, this.distinctItems(shape) + 1);
    return Array.from({ length: distinct }, (_, index) => this.item(shape, index));
  }

  #isObjectPossible(shape: Shape): boolean {
    const members = this.members(shape);
    const required = members.filter((member) => member.required);
    return (
      required.length === shape.object.required.length &&
      (members.length >= shape.object.min || this.additional(shape) !== undefined)
    );
  }

  #names(shape: Shape): Node {
    return this.node(shape.object.names, `${this.#path}.propertyNames`);
  }

  /** All names that properties may have, when the schema lists them. */
  #onlyNames(shape: Shape): string[] | undefined {
    const shapes = this.#names(shape).shapes.filter(({ types }) => types.has("string"));
    return shape.object.names.length > 0 && shapes.every(({ literals }) => literals !== undefined)
      ? shapes.flatMap((names) => this.literals(names)).filter((name) => typeof name === "string")
      : undefined;
  }

  isNameAllowed(shape: Shape, name: string, fitting: Fitting = this.#fitting): boolean {
    return shape.object.names.length === 0 || this.#names(shape).shapes.some((names) => fitting.fits(names, name));
  }

  #isSurelyEmpty(shape: Shape, depth: number): boolean {
    const known = this.#empty.get(shape)?.get(depth);
    if (known !== undefined) {
      return known;
    }
    const isEmpty = this.#findEmpty(shape, depth);
    this.#empty.set(shape, (this.#empty.get(shape) ?? new Map()).set(depth, isEmpty));
    return isEmpty;
  }

  #findEmpty(shape: Shape, depth: number): boolean {
    if (shape.literals !== undefined) {
      return this.literals(shape, this.#validFitting).length === 0;
    }
    const isNodeEmpty = (node: Node) =>
      depth > 0 && node.isComplete && node.shapes.every((inner) => this.#isSurelyEmpty(inner, depth - 1));
    return [...shape.types].every((type) => {
      switch (type) {
        case "number":
          return hasNoNumber(shape.number);
        case "string":
          return this.texts(shape, "valid")?.isEmpty ?? false;
        case "array":
          return this.#leastItems(shape).some(isNodeEmpty);
        case "object":
          return shape.object.required.some(
            (name) => isNodeEmpty(this.property(shape, name)) || !this.isNameAllowed(shape, name, this.#validFitting),
          );
        default:
          return false;
      }
    });
  }
}
