import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { RE2JS } from "re2js";
import { JS } from "refa";

/** Only `u`: JSON Schema patterns have no other flags. */
const FLAGS = "u";

/**
 * Compiles a pattern for a linear-time engine. Returns undefined for patterns that such an engine cannot match: lookaround,
 * backreferences, and repetitions above RE2's limit. Throws a SyntaxError when the pattern is malformed.
 */
export function compileLinearPattern(
  source: string,
  { ignoresCase = false }: { ignoresCase?: boolean } = {},
): { test(text: string): boolean } | undefined {
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, { unicode: true });
  const translated = alternatives(pattern.alternatives);
  if (translated === undefined) return undefined;
  try {
    const compiled = RE2JS.compile(translated, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { test: (text) => compiled.test(text) };
  } catch {
    return undefined;
  }
}

/** RE2's syntax for the same pattern: character classes become code point ranges, since RE2's `\s` and `.` differ. */
function alternatives(nodes: readonly AST.Alternative[]): string | undefined {
  const translated = nodes.map((node) => join(node.elements.map(element), ""));
  return join(translated, "|");
}

function join(parts: readonly (string | undefined)[], separator: string): string | undefined {
  return parts.every((part) => part !== undefined) ? parts.join(separator) : undefined;
}

function element(node: AST.Element): string | undefined {
  switch (node.type) {
    case "Character":
      return `\\x{${node.value.toString(16)}}`;
    case "CharacterSet":
    case "CharacterClass":
    case "ExpressionCharacterClass":
      return characterClass(node.raw);
    case "Group":
      return node.modifiers === null ? group(node.alternatives) : undefined;
    case "CapturingGroup":
      return group(node.alternatives);
    case "Quantifier":
      return quantifier(node);
    case "Assertion":
      return assertion(node);
    case "Backreference":
      return undefined;
  }
}

function group(nodes: readonly AST.Alternative[]): string | undefined {
  const inner = alternatives(nodes);
  return inner === undefined ? undefined : `(?:${inner})`;
}

function quantifier({ element: repeated, min, max }: AST.Quantifier): string | undefined {
  const inner = element(repeated);
  return inner === undefined ? undefined : `(?:${inner}){${min},${max === Infinity ? "" : max}}`;
}

function assertion(node: AST.Assertion): string | undefined {
  switch (node.kind) {
    case "start":
      return "\\A";
    case "end":
      return "\\z";
    case "word":
      return node.negate ? "\\B" : "\\b";
    default:
      return undefined;
  }
}

function characterClass(raw: string): string | undefined {
  const { expression } = JS.Parser.fromLiteral({ source: raw, flags: FLAGS }).parse();
  const [only] = expression.alternatives[0]?.elements ?? [];
  if (only?.type !== "CharacterClass") return undefined;
  const ranges = only.characters.ranges.map(({ min, max }) => `\\x{${min.toString(16)}}-\\x{${max.toString(16)}}`);
  // RE2 has no empty class.
  return ranges.length === 0 ? undefined : `[${ranges.join("")}]`;
}
