/** Validates the JSON output in the choices of a complete answer. */

import type { SchemaRequest } from "@parlance-inference/json-schema-grammar/pool";
import type { AnswerFormat } from "../../../contracts/chat-model.ts";
import { schemaPool } from "../../shared/compile-schemas.ts";
import { withSchemaFaults } from "../../shared/schema-fault.ts";

/** Resolves to the error of a JSON text; undefined if valid. Throws a Fault when the schema exceeds its time budget. */
export type ValidateText = (text: string) => Promise<string | undefined>;

export interface AnswerChoice extends Record<string, unknown> {
  message: { content?: unknown; tool_calls?: unknown; refusal?: unknown };
  finish_reason: string;
}

export interface CheckedChoice {
  /** Choice with only the JSON value as its content. */
  choice: AnswerChoice;
  /** Error of an invalid text. */
  violation: string | undefined;
}

/** Throws a Fault that names the error in the schema. */
export async function compileFormat(format: AnswerFormat, schemas: SchemaRequest): Promise<ValidateText> {
  if (format.type !== "json-schema") return async (text) => notAnObject(text);
  const { schema, param } = format;
  const validate = await withSchemaFaults(() => schemaPool.compileValidator(schema, param, schemas));
  return (text) => withSchemaFaults(() => validate(text));
}

function notAnObject(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "it is not a JSON object";
}

/** Truncated, filtered and refused answers and tool calls pass unchanged: they are marked as such. */
export async function checkChoice(choice: AnswerChoice, validate: ValidateText): Promise<CheckedChoice> {
  const { content, tool_calls: calls, refusal } = choice.message;
  const isText = choice.finish_reason === "stop" && !refusal && !(Array.isArray(calls) && calls.length > 0);
  if (!isText) return { choice, violation: undefined };
  const text = typeof content === "string" ? valueIn(content) : "";
  const violation = text.trim() === "" ? "it is empty" : await validate(text);
  if (text === content) return { choice, violation };
  return { choice: { ...choice, message: { ...choice.message, content: text }, logprobs: null }, violation };
}

/** Models wrap JSON in a Markdown block and write reasoning before it, despite the instruction. */
function valueIn(text: string): string {
  const said = text.replace(/^\s*<think>.*?<\/think>\s*/s, "");
  const fenced = said.trim();
  const firstLine = fenced.slice(0, fenced.indexOf("\n") + 1);
  // A single regular expression would take cubic time for a text of many newlines.
  if (!/^```[a-z]*\s*$/i.test(firstLine) || !fenced.slice(firstLine.length).endsWith("```")) return said;
  return fenced.slice(firstLine.length, -3).trim();
}
