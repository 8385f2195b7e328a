import { parseSync } from "rolldown/utils";

/** A node of the ESTree syntax tree. */
export interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

interface Comment {
  value: string;
  start: number;
  end: number;
}

export function parseSource(path: string, source: string): { program: Node; comments: readonly Comment[] } {
  const { program, comments, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return { program: program as unknown as Node, comments };
}

/** Calls `visit` for each node below `node`, outer ones first, with the nodes around it, the nearest last. */
export function walk(
  node: Node,
  visit: (node: Node, around: readonly Node[]) => void,
  around: readonly Node[] = [],
): void {
  visit(node, around);
  const inside = [...around, node];
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, inside);
    }
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** The text of a string literal or of a template without placeholders. */
export function literalText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "JSXExpressionContainer") return literalText(node.expression);
  if (node.type !== "TemplateLiteral" || (node.expressions as Node[]).length > 0) return undefined;
  return templateText(node, "");
}

/** The texts of a template with `placeholder` in place of its expressions. */
export function templateText(node: Node, placeholder: string): string {
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(placeholder);
}
