/** Writes the grammars of response formats and tool calls in llama.cpp's notation (GBNF). */

import { anyObjectRules, compileRules } from "@parlance-inference/json-schema-grammar/grammar";
import { CALL_ID_LENGTH } from "../call-id.ts";
import { CALL_ID, type ToolCallFormat } from "../output/tool-call-format.ts";
import type { ResponseFormat, Tool } from "../types.ts";

const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false };

export interface CallRules {
  format: ToolCallFormat;
  tools: readonly Tool[];
  /** Whether the output may contain more than one call. */
  allowsParallel: boolean;
}

export type GrammarRequest =
  | { kind: "format"; format: ResponseFormat }
  /** The text after the trigger. */
  | { kind: "calls"; calls: CallRules }
  | { kind: "either"; format: ResponseFormat; calls: CallRules };

/** Throws a SchemaError that names the keyword which cannot be enforced. */
export function writeGrammar(request: GrammarRequest): string {
  switch (request.kind) {
    case "format":
      return formatRules(request.format, "root");
    case "calls":
      return `root ::= calls\n${callRules(request.calls)}`;
    case "either": {
      const { format, calls } = request;
      const answer = formatRules(format, "answer");
      return `root ::= answer | ${literal(calls.format.trigger)} calls\n${answer}\n${callRules(calls)}`;
    }
  }
}

function formatRules(format: ResponseFormat, rule: string): string {
  if (format.type === "json-schema" && format.grammar !== undefined) {
    const { ruleName, rules } = format.grammar;
    return ruleName === rule ? rules : `${rule} ::= ${ruleName}\n${rules}`;
  }
  return format.type === "json-schema" ? compileRules(format.schema, format.param, rule) : anyObjectRules(rule);
}

/** The rule `calls`: the text after the trigger. */
function callRules({ format, tools, allowsParallel }: CallRules): string {
  const { open, afterName, between, close } = format;
  const next = allowsParallel && between !== undefined ? ` (${literal(between)} call)*` : "";
  const ruleNames = tools.map(({ grammar }, index) => grammar?.ruleName ?? `tool-${index}`);
  const calls = tools.map(({ name }, index) => `${literal(name)} ${literal(afterName)} ${ruleNames[index]}`);
  return [
    `calls ::= ${literal(open)} call${next} ${literal(close)}`,
    `call ::= ${calls.join(" | ")}`,
    ...tools.map(
      ({ parameters, param, grammar }, index) =>
        grammar?.rules ?? compileRules(parameters ?? NO_PARAMETERS, param, `tool-${index}`, { values: "objects" }),
    ),
    "",
  ].join("\n");
}

/** Allows any ID: the IDs in events are generated independently of what the model writes. */
function literal(text: string): string {
  return text
    .split(CALL_ID)
    .map(
      (part) =>
        `"${part.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r")}"`,
    )
    .join(` [a-zA-Z0-9]{${CALL_ID_LENGTH}} `);
}
