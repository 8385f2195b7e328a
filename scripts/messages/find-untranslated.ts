/** English texts of a source file that people may see and that no function of the catalog translates. */

import { isNode, literalText, type Node, parseSource, templateText, walk } from "./syntax-tree.ts";

interface Untranslated {
  text: string;
  node: Node;
  around: readonly Node[];
}

/** A comment with the reason, on the line of the text or above it; in the first comment it stands for the file. */
const EXEMPTION = /untranslated:/u;
const FILE_EXEMPTION = /untranslated file:/u;
const LETTERS = /\p{L}{2}|^\p{L}$/u;
/** Two words, or one that begins like a sentence. Other texts are values of the code. */
const PROSE = /\p{L}[,.:;…]? +\S*\p{L}|^\p{Lu}\p{Ll}+[.…:?]?$/u;
/** Addresses, file names and beginnings of keys, as in placeholders. */
const TECHNICAL = /^(https?:\/\/\S+|\S+@\S+|[\w.-]+\.(yaml|json|jsonl|csv)|sk-…)$/u;
const FREE_WORD = /(?<![\p{L}…])\p{L}{2,}/u;
/** Names that are equal in every language. */
const NAMES = new Set(
  [
    "Parlance",
    "OpenAI",
    "JSON",
    "CSV",
    "API",
    "curl",
    "Python",
    "JavaScript",
    "TypeScript",
    "Ollama",
    "Anthropic",
  ].concat([
    ...["Ctrl", "Shift", "Enter", "Esc", "LaTeX", "Mermaid", "Markdown", "MCP", "SRT", "WebVTT", "OpenID Connect"],
  ]),
);
const VISIBLE = new Set(
  "label title placeholder description aria-label aria-description aria-roledescription aria-valuetext alt message text"
    .concat(" heading hint tooltip legend nothingFoundMessage error summary note empty unit")
    .split(" "),
);
/** Attributes and properties whose texts are code. */
const INVISIBLE = new Set(
  "id key queryKey mutationKey className style gap d viewBox transform points accept lang href src rel sizes font fontFamily strokeDasharray".split(
    " ",
  ),
);
const CODE = new Set(["ImportDeclaration", "ExportAllDeclaration", "TSLiteralType", "BinaryExpression", "SwitchCase"]);
/** Families of fonts. */
const STACK = /-serif$|monospace$/u;
const CODE_ELEMENTS = new Set(["Code", "InlineCode", "code", "kbd", "pre"]);
const TRANSLATED = new Set(["t", "msg", "plural"]);

export function findUntranslated(path: string, source: string): Untranslated[] {
  const { program, comments } = parseSource(path, source);
  if (comments.some(({ value }) => FILE_EXEMPTION.test(value))) return [];
  const lineOf = (at: number) => source.slice(0, at).split("\n").length;
  const exempt = new Set(
    comments.filter(({ value }) => EXEMPTION.test(value)).flatMap(({ end }) => [lineOf(end), lineOf(end) + 1]),
  );
  const texts: Untranslated[] = [];
  walk(program, (node, around) => {
    const text = textOf(node);
    if (text === undefined || NAMES.has(text.trim()) || !LETTERS.test(text.trim()) || STACK.test(text)) return;
    if (TECHNICAL.test(text.trim())) return;
    if (isCode(around, node) || !(node.type === "JSXText" || isVisible(node, around) || isProse(node, text.trim())))
      return;
    if (exempt.has(lineOf(node.start)) || exempt.has(lineOf(around.findLast(isStatement)?.start ?? 0))) return;
    texts.push({ text, node, around });
  });
  return texts;
}

function textOf(node: Node): string | undefined {
  if (node.type === "JSXText") return node.value as string;
  return node.type === "TemplateLiteral" ? templateText(node, "…") : literalText(node);
}

function isProse(node: Node, text: string): boolean {
  // A word that a template begins in a placeholder, such as `…px`, is code.
  if (node.type === "TemplateLiteral") return FREE_WORD.test(text) && PROSE.test(text.replaceAll("…", "value"));
  return PROSE.test(text);
}

function isStatement(node: Node): boolean {
  return /Statement|Declaration$/u.test(node.type) || node.type === "Property";
}

/** Whether a text is a value of the code, or translated. */
function isCode(around: readonly Node[], node: Node): boolean {
  const parent = around.at(-1);
  if (
    parent === undefined ||
    (CODE.has(parent.type) && parent.operator !== "+") ||
    parent.type === "TaggedTemplateExpression"
  )
    return true;
  if (parent.type === "Property" && parent.key === node) return true;
  if (parent.type === "MemberExpression" && parent.computed === true && parent.property === node) return true;
  return around.some((each, index) => {
    if (each.type === "JSXElement") return CODE_ELEMENTS.has(elementName(each));
    if (each.type === "JSXOpeningElement") return (each.name as Node).name === "Trans";
    if (each.type === "CallExpression") return TRANSLATED.has(calleeName(each)) && around[index + 1] !== each.callee;
    const name = nameOf(each);
    return name !== undefined && INVISIBLE.has(name);
  });
}

/** Whether the attribute or property, or the JSX around it, shows the text. */
function isVisible(node: Node, around: readonly Node[]): boolean {
  let child = node;
  for (const each of around.toReversed()) {
    const name = nameOf(each);
    if (name !== undefined) return VISIBLE.has(name) && each.key !== child;
    if (each.type === "JSXElement" || each.type === "JSXFragment") return true;
    // The test of a condition and the arguments of a call are values.
    if (each.type === "ConditionalExpression" && each.test === child) return false;
    if (
      !/^(ConditionalExpression|LogicalExpression|TemplateLiteral|JSXExpressionContainer|BinaryExpression)$/u.test(
        each.type,
      )
    ) {
      return false;
    }
    child = each;
  }
  return false;
}

function nameOf(node: Node): string | undefined {
  if (node.type === "JSXAttribute") return (node.name as Node).name as string;
  if (node.type !== "Property" || !isNode(node.key)) return undefined;
  return (node.key.name ?? node.key.value) as string;
}

function elementName(element: Node): string {
  return String(((element.openingElement as Node).name as Node).name);
}

function calleeName(call: Node): string {
  return String((call.callee as Node).name);
}
