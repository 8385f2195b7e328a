/** Texts that a source file of the console translates: the arguments of `t`, `msg`, `plural` and `Trans`. */

import { isNode, literalText, type Node, walk } from "./syntax-tree.ts";

interface Message {
  /** The English sentence, and `_CONTEXT` where it has a context. */
  key: string;
  /** English of exactly one, if the text has plural forms; the key is then the form of others. */
  one?: string;
  at: number;
}

interface Messages {
  messages: Message[];
  problems: { at: number; problem: string }[];
}

const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"]);

export function findMessages(program: Node): Messages {
  const messages: Message[] = [];
  const problems: Messages["problems"] = [];
  walk(program, (node, around) => {
    if (node.type === "JSXOpeningElement" && (node.name as Node).name === "Trans") {
      const key = literalText(attribute(node, "text"));
      if (key === undefined) problems.push({ at: node.start, problem: "<Trans> needs a literal `text`" });
      else messages.push({ key, at: node.start });
    }
    if (node.type !== "CallExpression") return;
    const name = (node.callee as Node).name;
    const call = node.arguments as Node[];
    if (name === "t" || name === "plural") {
      if (!around.some(({ type }) => FUNCTIONS.has(type))) {
        problems.push({
          at: node.start,
          problem: `\`${name}\` runs while the module loads; use \`msg\` or a function`,
        });
      }
    }
    if (name === "t" || name === "msg") {
      const text = literalText(call[0]);
      // Another argument of `t` is a constant that `msg` has marked, which its type says.
      if (text !== undefined) messages.push({ key: text + contextOf(call[1]), at: node.start });
      else if (name === "msg") problems.push({ at: node.start, problem: "`msg` needs a literal" });
    }
    if (name === "plural") {
      const [one, other] = [literalText(call[1]), literalText(call[2])];
      if (one === undefined || other === undefined) {
        problems.push({ at: node.start, problem: "`plural` needs two literals" });
      } else messages.push({ key: other + contextOf(call[3]), one, at: node.start });
    }
  });
  return { messages, problems };
}

function attribute(element: Node, name: string): unknown {
  const attributes = element.attributes as Node[];
  return attributes.find((each) => isNode(each.name) && each.name.name === name)?.value;
}

function contextOf(values: Node | undefined): string {
  if (values?.type !== "ObjectExpression") return "";
  const property = (values.properties as Node[]).find((each) => isNode(each.key) && each.key.name === "context");
  const context = literalText(property?.value);
  return context === undefined ? "" : `_${context}`;
}
