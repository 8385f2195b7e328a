/** Checks whether the choices of a complete answer are the JSON that was asked for. */

import { compileValidator } from "@parlance-inference/json-schema-grammar/validator";
import { LRUCache } from "lru-cache";
import type { AnswerFormat } from "../chat-model.ts";
import { withSchemaFaults } from "../schema-fault.ts";

/** What is wrong with a value; undefined: nothing. */
type Validate = (value: unknown) => string | undefined;

export interface AnswerChoice extends Record<string, unknown> {
  message: { content?: unknown; tool_calls?: unknown; refusal?: unknown };
  finish_reason: string;
}

export interface CheckedChoice {
  /** With the JSON value alone as its content. */
  choice: AnswerChoice;
  /** Of a text that is not what was asked for. */
  violation: string | undefined;
}

/** By schema: compiling one takes milliseconds, and clients send the same ones again. */
const compiled = new LRUCache<string, Validate>({
  maxSize: 4_000_000,
  sizeCalculation: (_validate, key) => key.length,
});

/** Throws a Fault that names what is wrong with the schema. */
export function validatorOfFormat(format: AnswerFormat): Validate {
  if (format.type === "json-schema") return compile(format.schema, format.param);
  return (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "it is not a JSON object";
}

function compile(schema: unknown, param: string): Validate {
  const key = JSON.stringify(schema);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const validate = withSchemaFaults(() => compileValidator(schema, param));
  compiled.set(key, validate);
  return validate;
}

/** What was cut off, filtered or refused is passed as it is, and so are calls of tools: each says so by itself. */
export function checkChoice(choice: AnswerChoice, validate: Validate): CheckedChoice {
  const { content, tool_calls: calls, refusal } = choice.message;
  const isText = choice.finish_reason === "stop" && !refusal && !(Array.isArray(calls) && calls.length > 0);
  if (!isText) return { choice, violation: undefined };
  const text = typeof content === "string" ? valueIn(content) : "";
  const violation = violationOf(text, validate);
  if (text === content) return { choice, violation };
  return { choice: { ...choice, message: { ...choice.message, content: text }, logprobs: null }, violation };
}

/** Models put JSON into a Markdown block and their reasoning before it, despite instructions. */
function valueIn(text: string): string {
  const said = text.replace(/^\s*<think>.*?<\/think>\s*/s, "");
  const fenced = /^\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*$/is.exec(said);
  return fenced?.[1] ?? said;
}

function violationOf(text: string, validate: Validate): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text.trim() === "" ? "it is empty" : "it is not JSON";
  }
  return validate(value);
}
