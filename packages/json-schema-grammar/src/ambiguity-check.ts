/**
 * Bounds the ambiguity of a grammar: how many parses of the same text the sampler must track in parallel. Each costs work
 * for every token, and nested ambiguity under recursion doubles them at each level until the process runs out of memory.
 */

import { LIMITS } from "./limits.ts";
import { SchemaError } from "./schema-error.ts";
import type { SchemaGraph } from "./schema-graph.ts";
import type { Node } from "./schema-node.ts";
import type { ValueConstraints } from "./value-constraints.ts";

/** Location of a value inside its parent: a property's name or an item's index. */
type Position = string | number;

/** Stands for every property that is not listed. */
const OTHERS = "";

/** One way of parsing an array or object. */
interface Parse {
  /** The node at each position. Property names carry a prefix to keep them apart from `OTHERS`. */
  inside: ReadonlyMap<Position, Node>;
  /** The nodes that positions which are not listed may have, one for each. */
  others: readonly Node[];
  /** Positions that can come first, with the literals allowed there; undefined: any value. */
  first: ReadonlyMap<Position, ReadonlySet<string> | undefined> | undefined;
  /** Number of branches to continue between two values. */
  branches: number;
}

/** Throws a SchemaError when the grammar would be too ambiguous. */
export function checkAmbiguity(graph: SchemaGraph): void {
  const parseCounts = new Map<Node, number>();
  for (const component of components(graph)) {
    let max = 1;
    for (const node of component) {
      for (const type of ["array", "object"] as const) {
        const alternatives = node.alternatives
          .filter(
            (constraints) => constraints.literals === undefined && graph.satisfiableTypes(constraints).includes(type),
          )
          .flatMap((constraints) =>
            type === "array" ? arrayParses(graph, constraints) : objectParse(graph, constraints),
          );
        max = Math.max(max, countParses(node, alternatives, new Set(component), parseCounts));
      }
      // A string of bounded length parses either as full blocks or as its remainder.
      max = Math.max(max, 2 * node.alternatives.filter(({ types }) => types.has("string")).length);
    }
    if (max > LIMITS.parses) {
      throw tooAmbiguous(component[0] as Node, `more than ${LIMITS.parses} parses`);
    }
    for (const node of component) {
      parseCounts.set(node, max);
    }
  }
}

function countParses(
  node: Node,
  alternatives: readonly Parse[],
  component: ReadonlySet<Node>,
  known: ReadonlyMap<Node, number>,
): number {
  let max = alternatives.reduce((sum, { branches }) => sum + branches, 0);
  for (const group of groupsOf(alternatives)) {
    const positions = new Set<Position>([OTHERS, ...group.flatMap(({ inside }) => [...inside.keys()])]);
    for (const position of positions) {
      const inside = group
        .map((parse) => [parse.inside.get(position) ?? parse.others].flat())
        .filter((children) => children.length > 0);
      if (inside.length > 1 && inside.flat().some((child) => component.has(child))) {
        throw tooAmbiguous(
          node,
          "parses that double with each level of nesting: put the discriminating property first",
        );
      }
      max = Math.max(
        max,
        inside.reduce((sum, children) => sum + Math.max(...children.map((child) => known.get(child) ?? 0)), 0),
      );
    }
  }
  return max;
}

/** Groups the alternatives: those in different groups diverge at the first value. */
function groupsOf(alternatives: readonly Parse[]): Parse[][] {
  const groups: Parse[][] = [];
  for (const parse of alternatives) {
    const same = groups.filter((group) => group.some((other) => !areDisjoint(parse, other)));
    for (const group of same) {
      groups.splice(groups.indexOf(group), 1);
    }
    groups.push([parse, ...same.flat()]);
  }
  return groups;
}

function areDisjoint(left: Parse, right: Parse): boolean {
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

function arrayParses(graph: SchemaGraph, constraints: ValueConstraints): Parse[] {
  const distinct = graph.distinctItemCount(constraints);
  const items = Array.from({ length: distinct }, (_, index) => [index, graph.item(constraints, index)] as const);
  const first = constraints.array.min > 0 ? new Map([[0, literalsOf(graph, graph.item(constraints, 0))]]) : undefined;
  const plain = { inside: new Map(items), others: [graph.item(constraints, distinct)], first, branches: 2 };
  const contained = graph.contained(constraints, distinct);
  return contained === undefined
    ? [plain]
    : [plain, { ...plain, inside: new Map(), others: [contained], first: undefined }];
}

function objectParse(graph: SchemaGraph, constraints: ValueConstraints): Parse {
  const members = graph.members(constraints);
  const others = graph.additional(constraints).map(({ node }) => node);
  const required = members.findIndex((member) => member.required);
  const first =
    required === -1
      ? undefined
      : new Map(members.slice(0, required + 1).map(({ name, node }) => [`.${name}`, literalsOf(graph, node)]));
  let branches = 1;
  let run = 1;
  for (const member of members) {
    run = member.required ? 1 : run + 1;
    branches = Math.max(branches, run);
  }
  return {
    inside: new Map(members.map(({ name, node }) => [`.${name}`, node])),
    others,
    first,
    branches: branches + Math.max(1, others.length),
  };
}

function literalsOf(graph: SchemaGraph, node: Node): ReadonlySet<string> | undefined {
  return node.alternatives.every(({ literals }) => literals !== undefined)
    ? new Set(
        node.alternatives.flatMap((constraints) => graph.literals(constraints)).map((value) => JSON.stringify(value)),
      )
    : undefined;
}

/** Strongly connected components, children before their parents (Tarjan's algorithm). */
function components(graph: SchemaGraph): Node[][] {
  const groups: Node[][] = [];
  const numbers = new Map<Node, number>();
  const lowest = new Map<Node, number>();
  const path: Node[] = [];
  const onPath = new Set<Node>();
  const enter = (node: Node) => {
    numbers.set(node, numbers.size);
    lowest.set(node, numbers.get(node) ?? 0);
    path.push(node);
    onPath.add(node);
    const inside = new Set(node.alternatives.flatMap((constraints) => graph.children(constraints))).values();
    return { node, inside: inside.filter((child) => graph.isSatisfiable(child)) };
  };
  const lower = (node: Node, number: number | undefined) =>
    lowest.set(node, Math.min(lowest.get(node) ?? 0, number ?? 0));
  const leave = (node: Node, container: Node | undefined) => {
    if (container) lower(container, lowest.get(node));
    if (lowest.get(node) !== numbers.get(node)) return;
    const component = path.splice(path.indexOf(node));
    for (const member of component) onPath.delete(member);
    groups.push(component);
  };
  const open = [enter(graph.root)];
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const { node, inside } = top;
    const { done, value: child } = inside.next();
    if (done) {
      open.pop();
      leave(node, open.at(-1)?.node);
    } else if (!numbers.has(child)) {
      open.push(enter(child));
    } else if (onPath.has(child)) {
      lower(node, numbers.get(child));
    }
  }
  return groups;
}

function tooAmbiguous(node: Node, why: string) {
  return new SchemaError("unsupported", `The grammar would have to track ${why} (${node.path}).`, node.path);
}
