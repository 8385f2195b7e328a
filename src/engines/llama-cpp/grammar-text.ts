/** Grammars of answers and of calls, as llama.cpp reads them. */

import { anyObjectRules, compileRules } from "@parlance-inference/json-schema-grammar/grammar";
import type { AnswerFormat, Tool } from "../chat-model.ts";
import { withSchemaFaults } from "../schema-fault.ts";
import { CALL_ID, CALL_ID_LENGTH, type ToolCallFormat } from "./tool-call-format.ts";

const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false };

export interface CallRules {
  format: ToolCallFormat;
  tools: readonly Tool[];
  /** Whether more than one call may be made. */
  several: boolean;
}

export type WantedGrammar =
  | { kind: "format"; format: AnswerFormat }
  /** What follows the mark. */
  | { kind: "calls"; calls: CallRules }
  | { kind: "either"; format: AnswerFormat; calls: CallRules };

/** Throws a Fault that names the schema's keyword which cannot be enforced. */
export function grammarTextOf(wanted: WantedGrammar): string {
  switch (wanted.kind) {
    case "format":
      return formatRules(wanted.format, "root");
    case "calls":
      return `root ::= calls\n${callRules(wanted.calls)}`;
    case "either": {
      const { format, calls } = wanted;
      const answer = formatRules(format, "answer");
      return `root ::= answer | ${literal(calls.format.mark)} calls\n${answer}\n${callRules(calls)}`;
    }
  }
}

function formatRules(format: AnswerFormat, rule: string): string {
  return format.type === "json-schema"
    ? withSchemaFaults(() => compileRules(format.schema, format.param, rule))
    : anyObjectRules(rule);
}

/** The rule `calls`: what follows the mark. */
function callRules({ format, tools, several }: CallRules): string {
  const { open, afterName, between, close } = format;
  const next = several && between !== undefined ? ` (${literal(between)} call)*` : "";
  const calls = tools.map(({ name }, index) => `${literal(name)} ${literal(afterName)} tool-${index}`);
  return [
    `calls ::= ${literal(open)} call${next} ${literal(close)}`,
    `call ::= ${calls.join(" | ")}`,
    ...tools.map(({ parameters, param }, index) =>
      withSchemaFaults(() => compileRules(parameters ?? NO_PARAMETERS, param, `tool-${index}`, "objects")),
    ),
    "",
  ].join("\n");
}

/** Ids are told by Parlance, whatever the model writes for them. */
function literal(text: string): string {
  return text
    .split(CALL_ID)
    .map(
      (part) =>
        `"${part.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r")}"`,
    )
    .join(` [a-zA-Z0-9]{${CALL_ID_LENGTH}} `);
}
