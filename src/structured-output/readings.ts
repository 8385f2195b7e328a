/**
 * How many readings of one text a grammar has to follow at once. Each is work for every token, and where places that can be
 * read in two ways lie in each other without end, they double at each step: such a schema could bring a process down.
 */

import { unsupportedValue } from "../faults.ts";
import { LIMITS } from "./limits.ts";
import type { Node, SchemaGraph } from "./schema-graph.ts";
import type { Shape } from "./shape.ts";

/** Where a value lies in another: by the name of its property or the index of its item. */
type Position = string | number;

/** Any other property. */
const OTHERS = "";

interface Reading {
  /** What stands at each position; properties are prefixed, so that none is taken for `OTHERS`. */
  inside: ReadonlyMap<Position, Node>;
  /** What stands at positions that are not listed. */
  others: Node | undefined;
  /** The positions that may be read first, with the literals that may stand there; undefined: any value. */
  first: ReadonlyMap<Position, ReadonlySet<string> | undefined> | undefined;
  /** Ways to go on between two values. */
  ways: number;
}

/** Throws a Fault when there are too many. */
export function checkReadings(graph: SchemaGraph): void {
  const readings = new Map<Node, number>();
  for (const component of components(graph)) {
    let most = 1;
    for (const node of component) {
      for (const type of ["array", "object"] as const) {
        const alternatives = node.shapes
          .filter((shape) => shape.literals === undefined && graph.possibleTypes(shape).includes(type))
          .map((shape) => (type === "array" ? arrayReading(graph, shape) : objectReading(graph, shape)));
        most = Math.max(most, countReadings(node, alternatives, new Set(component), readings));
      }
      // A text of bounded length may be read as whole blocks or as its end.
      most = Math.max(most, 2 * node.shapes.filter(({ types }) => types.has("string")).length);
    }
    if (most > LIMITS.readings) {
      throw tooMany(component[0] as Node, `more than ${LIMITS.readings} readings`);
    }
    for (const node of component) {
      readings.set(node, most);
    }
  }
}

function countReadings(
  node: Node,
  alternatives: readonly Reading[],
  component: ReadonlySet<Node>,
  known: ReadonlyMap<Node, number>,
): number {
  let most = alternatives.reduce((sum, { ways }) => sum + ways, 0);
  for (const group of groupsOf(alternatives)) {
    const positions = new Set<Position>([OTHERS, ...group.flatMap(({ inside }) => [...inside.keys()])]);
    for (const position of positions) {
      const inside = group.flatMap((reading) => reading.inside.get(position) ?? reading.others ?? []);
      if (inside.length > 1 && inside.some((child) => component.has(child))) {
        throw tooMany(
          node,
          "readings that double with each step into it: put the property that tells the cases apart first",
        );
      }
      most = Math.max(
        most,
        inside.reduce((sum, child) => sum + (known.get(child) ?? 0), 0),
      );
    }
  }
  return most;
}

/** Alternatives of different groups cannot both be followed beyond the first value. */
function groupsOf(alternatives: readonly Reading[]): Reading[][] {
  const groups: Reading[][] = [];
  for (const reading of alternatives) {
    const same = groups.filter((group) => group.some((other) => !exclude(reading, other)));
    for (const group of same) {
      groups.splice(groups.indexOf(group), 1);
    }
    groups.push([reading, ...same.flat()]);
  }
  return groups;
}

function exclude(left: Reading, right: Reading): boolean {
  if (!left.first || !right.first) {
    return false;
  }
  for (const [position, literals] of left.first) {
    const others = right.first.get(position);
    if (right.first.has(position) && (!literals || !others || [...literals].some((literal) => others.has(literal)))) {
      return false;
    }
  }
  return true;
}

function arrayReading(graph: SchemaGraph, shape: Shape): Reading {
  const distinct = graph.distinctItems(shape);
  const items = Array.from({ length: distinct }, (_, index) => [index, graph.item(shape, index)] as const);
  const first = shape.array.min > 0 ? new Map([[0, literalsOf(graph, graph.item(shape, 0))]]) : undefined;
  return { inside: new Map(items), others: graph.item(shape, distinct), first, ways: 2 };
}

function objectReading(graph: SchemaGraph, shape: Shape): Reading {
  const members = graph.members(shape);
  const others = graph.additional(shape)?.node;
  const required = members.findIndex((member) => member.required);
  const first =
    required === -1
      ? undefined
      : new Map(members.slice(0, required + 1).map(({ name, node }) => [`.${name}`, literalsOf(graph, node)]));
  let ways = 1;
  let run = 1;
  for (const member of members) {
    run = member.required ? 1 : run + 1;
    ways = Math.max(ways, run);
  }
  return { inside: new Map(members.map(({ name, node }) => [`.${name}`, node])), others, first, ways: ways + 1 };
}

function literalsOf(graph: SchemaGraph, node: Node): ReadonlySet<string> | undefined {
  return node.shapes.every(({ literals }) => literals !== undefined)
    ? new Set(node.shapes.flatMap((shape) => graph.literals(shape)).map((value) => JSON.stringify(value)))
    : undefined;
}

/** Places that lie in each other, together; those that others contain come first (Tarjan's algorithm). */
function components(graph: SchemaGraph): Node[][] {
  const found: Node[][] = [];
  const numbers = new Map<Node, number>();
  const lowest = new Map<Node, number>();
  const path: Node[] = [];
  const onPath = new Set<Node>();
  const enter = (node: Node) => {
    numbers.set(node, numbers.size);
    lowest.set(node, numbers.get(node) ?? 0);
    path.push(node);
    onPath.add(node);
    const inside = new Set(node.shapes.flatMap((shape) => graph.children(shape))).values();
    return { node, inside: inside.filter((child) => graph.isPossible(child)) };
  };
  const lower = (node: Node, number: number) => lowest.set(node, Math.min(lowest.get(node) ?? 0, number));
  const open = [enter(graph.root)];
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const { node, inside } = top;
    const next = inside.next();
    if (!next.done) {
      const child = next.value;
      if (!numbers.has(child)) {
        open.push(enter(child));
      } else if (onPath.has(child)) {
        lower(node, numbers.get(child) ?? 0);
      }
      continue;
    }
    open.pop();
    const container = open.at(-1);
    if (container) {
      lower(container.node, lowest.get(node) ?? 0);
    }
    if (lowest.get(node) === numbers.get(node)) {
      const component = path.splice(path.indexOf(node));
      for (const member of component) {
        onPath.delete(member);
      }
      found.push(component);
    }
  }
  return found;
}

function tooMany(node: Node, why: string) {
  return unsupportedValue(`A grammar would have to follow ${why} (${node.path}).`, node.path);
}
