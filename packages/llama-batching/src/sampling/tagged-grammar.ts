/** Grammar rules of arguments that are written one by one with tags. */

import { compileRules } from "@parlance-inference/json-schema-grammar/grammar";
import type { TaggedArguments, TaggedParameter, ValueTags } from "../output/tagged-arguments.ts";
import { literal } from "./literal.ts";

const TEXT_RULE = "tagged-text";

/** Rules of any text that does not contain the end of a value, as states of a search for it. */
export function textRules({ after }: ValueTags): string {
  const alphabet = [...new Set(after)];
  const other = `[^${alphabet.map(classCharacter).join("")}] ${stateRule(0)}`;
  return Array.from({ length: after.length }, (_, state) => {
    const steps = alphabet.flatMap((character) => {
      const next = nextState(after, state, character);
      return next === after.length ? [] : [`${literal(character)} ${stateRule(next)}`];
    });
    return `${stateRule(state)} ::= ( ${[other, ...steps].join(" | ")} )?`;
  }).join("\n");
}

/** Rules of a function's arguments, beginning with the rule `name`. Throws a SchemaError. */
export function taggedRules(
  name: string,
  tags: TaggedArguments,
  parameters: readonly TaggedParameter[],
  param: string,
): string {
  const stateOf = (index: number, isFirst: boolean) =>
    index === 0 ? name : `${name}-from-${index}${isFirst ? "-first" : ""}`;
  const rules = parameters.flatMap((parameter, index) => {
    const { isRequired, schema } = parameter;
    const text = parameter.isText ? tags.text : undefined;
    const valueRule = `${name}-value-${index}`;
    const value =
      text === undefined
        ? compileRules(schema, `${param}.properties.${parameter.name}`, valueRule)
        : `${valueRule} ::= ${textOf(schema, text)}`;
    const { afterName, after } = text ?? tags.other;
    const end = after === "" ? "" : ` ${literal(after)}`;
    const states = (index === 0 ? [true] : [true, false]).map((isFirst) => {
      const start = `${isFirst ? "" : tags.between}${tags.before}${parameter.name}${afterName}`;
      const pair = `${literal(start)} ${valueRule}${end} ${stateOf(index + 1, false)}`;
      return `${stateOf(index, isFirst)} ::= ${pair}${isRequired ? "" : ` | ${stateOf(index + 1, isFirst)}`}`;
    });
    return [value, ...states];
  });
  const ends = parameters.length === 0 ? [name] : [true, false].map((isFirst) => stateOf(parameters.length, isFirst));
  return [...rules, ...ends.map((end) => `${end} ::= ""`)].join("\n");
}

/** Texts of a limited length lack the first character of their end. */
function textOf(schema: TaggedParameter["schema"], { after }: ValueTags): string {
  const {
    enum: values,
    minLength = 0,
    maxLength,
  } = schema as {
    enum?: unknown[];
    minLength?: number;
    maxLength?: number;
  };
  if (values !== undefined) return values.map((value) => literal(String(value))).join(" | ");
  if (minLength === 0 && maxLength === undefined) return stateRule(0);
  return `[^${classCharacter(after.charAt(0))}]{${minLength},${maxLength ?? ""}}`;
}

function stateRule(state: number): string {
  return `${TEXT_RULE}-${state}`;
}

/** Length of the longest beginning of `text` with which its first `state` characters and `character` end. */
function nextState(text: string, state: number, character: string): number {
  const read = text.slice(0, state) + character;
  for (let length = Math.min(read.length, text.length); length > 0; length -= 1) {
    if (text.startsWith(read.slice(-length))) return length;
  }
  return 0;
}

function classCharacter(character: string): string {
  const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return (
    escapes[character] ??
    (/[\\\]^-]/.test(character) ? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}` : character)
  );
}
