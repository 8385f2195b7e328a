/** The grammars that hold answers to a format, and calls to their tools' parameters. */

import { LRUCache } from "lru-cache";
import type { AnswerFormat, Tool } from "../chat-model.ts";
import { grammarOfAnyObject, grammarOfSchema, grammarRulesOf } from "./stub-grammar.ts";
import { CALL_ID, CALL_ID_LENGTH, type ToolCallFormat } from "./tool-call-format.ts";
import type { Decoder, GrammarState } from "./unpublished.ts";

/** Characters of schemas whose grammars are kept; a grammar in memory takes some ten times as much. */
const MOST_KEPT = 4_000_000;
const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false };

export interface CallRules {
  format: ToolCallFormat;
  tools: readonly Tool[];
  /** Whether more than one call may be made. */
  several: boolean;
}

type Wanted =
  | { kind: "format"; format: AnswerFormat }
  | { kind: "calls"; calls: CallRules }
  | { kind: "either"; format: AnswerFormat; calls: CallRules };

export class AnswerGrammars {
  readonly #decoder: Decoder;
  readonly #kept = new LRUCache<string, GrammarState>({
    maxSize: MOST_KEPT,
    sizeCalculation: (_, key) => key.length,
  });

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Throws a Fault that names the schema's keyword which cannot be enforced. The state is to be cloned, not used. */
  get(wanted: Wanted): GrammarState {
    const key = JSON.stringify(wanted);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const state = this.#decoder.readGrammar(textOf(wanted));
    this.#kept.set(key, state);
    return state;
  }
}

function textOf(wanted: Wanted): string {
  switch (wanted.kind) {
    case "format":
      return wholeFormat(wanted.format);
    case "calls":
      return `root ::= calls\n${callRules(wanted.calls)}`;
    case "either": {
      const { format, calls } = wanted;
      const answer = grammarRulesOf(schemaOf(format), paramOf(format), "answer");
      return `root ::= answer | ${literal(calls.format.mark)} calls\n${answer}\n${callRules(calls)}`;
    }
  }
}

function wholeFormat(format: AnswerFormat): string {
  return format.type === "json-schema" ? grammarOfSchema(format.schema, format.param) : grammarOfAnyObject();
}

function schemaOf(format: AnswerFormat): unknown {
  return format.type === "json-schema" ? format.schema : { type: "object" };
}

function paramOf(format: AnswerFormat): string {
  return format.type === "json-schema" ? format.param : "response_format";
}

/** The rule `calls`: what follows the mark. */
function callRules({ format, tools, several }: CallRules): string {
  const { open, afterName, between, close } = format;
  const next = several && between !== undefined ? ` (${literal(between)} call)*` : "";
  const calls = tools.map(({ name }, index) => `${literal(name)} ${literal(afterName)} tool-${index}`);
  return [
    `calls ::= ${literal(open)} call${next} ${literal(close)}`,
    `call ::= ${calls.join(" | ")}`,
    ...tools.map(({ parameters, param }, index) => grammarRulesOf(parameters ?? NO_PARAMETERS, param, `tool-${index}`)),
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
