/** Writes the grammars of response formats and tool calls in llama.cpp's notation (GBNF). */

import { anyObjectRules, compileRules } from "@parlance-inference/json-schema-grammar/grammar";
import { CALL_ID_LENGTH } from "../call-id.ts";
import { taggedParameters } from "../output/tagged-arguments.ts";
import { CALL_ID, CALL_INDEX, type ToolCallFormat } from "../output/tool-call-format.ts";
import type { ResponseFormat, Tool } from "../types.ts";
import { literal } from "./literal.ts";
import { taggedRules, textRules } from "./tagged-grammar.ts";

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
      return `root ::= answer | ${withIds(calls.format.trigger)} calls\n${answer}\n${callRules(calls)}`;
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
  const { open, afterName, between, close, tagged } = format;
  const next = allowsParallel && between !== undefined ? ` (${withIds(between)} call)*` : "";
  const arguments_ = tools.map((tool, index) => argumentRules(tool, `tool-${index}`, format));
  const calls = tools.map(({ name }, index) => {
    return `${literal(name)} ${withIds(afterName)} ${arguments_[index]?.ruleName}`;
  });
  return [
    `calls ::= ${withIds(open)} call${next} ${withIds(close)}`,
    `call ::= ${calls.join(" | ")}`,
    ...arguments_.map(({ rules }) => rules),
    ...(tagged?.text === undefined ? [] : [textRules(tagged.text)]),
    "",
  ].join("\n");
}

/** Arguments that cannot be written one by one are a JSON object in every notation. */
function argumentRules(
  { parameters, param, grammar }: Tool,
  ruleName: string,
  { tagged }: ToolCallFormat,
): { ruleName: string; rules: string } {
  const fields = tagged === undefined ? undefined : taggedParameters(parameters, tagged);
  if (tagged !== undefined && fields !== undefined) {
    return { ruleName, rules: taggedRules(ruleName, tagged, fields, param) };
  }
  if (grammar !== undefined) return grammar;
  return { ruleName, rules: compileRules(parameters ?? NO_PARAMETERS, param, ruleName, { values: "objects" }) };
}

/** Allows any ID and index: the IDs in events are generated independently of what the model writes. */
function withIds(text: string): string {
  const texts = text.split(CALL_INDEX).map((part) => {
    return part.split(CALL_ID).map(literal).join(` [a-zA-Z0-9]{${CALL_ID_LENGTH}} `);
  });
  return texts.join(" [0-9]{1,4} ");
}
