/** JSON Schemas as grammars that hold llama.cpp's sampler to them. What a grammar cannot enforce in full is refused. */

import { invalidRequest, unsupportedValue } from "../faults.ts";
import { RuleBook } from "./gbnf.ts";
import { JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import { checkReadings } from "./readings.ts";
import { SchemaDocument } from "./schema-document.ts";
import { SchemaGraph } from "./schema-graph.ts";
import { ANY_OBJECT, ANY_VALUE } from "./shape.ts";
import { PatternRefused } from "./text-language.ts";
import { TookTooLong, withinTime } from "./within-time.ts";
import { GrammarWriter } from "./write-grammar.ts";

/** A whole grammar in llama.cpp's notation. Throws a Fault that names the keyword; `param` is the schema's own path. */
export function grammarOfSchema(schema: unknown, param: string): string {
  return grammarRulesOf(schema, param, "root");
}

/** A whole grammar of any JSON object. */
export function grammarOfAnyObject(): string {
  return anyObjectRules("root");
}

/**
 * The same to be put together with others: its rule `ruleName`, and those that it needs, whose names begin with `ruleName`
 * and two dashes. `ruleName` is of letters, digits and single dashes. `objects`: of the values that fit the schema, only
 * those, as the arguments of tools are, whose schemas need not say so.
 */
export function grammarRulesOf(
  schema: unknown,
  param: string,
  ruleName: string,
  values: "any" | "objects" = "any",
): string {
  const rules = new RuleBook(ruleName, (count, characters) => checkSize(count, characters, param));
  try {
    return withinTime(LIMITS.compileMilliseconds, () => {
      const graph = new SchemaGraph(new SchemaDocument(schema, param), values === "any" ? ANY_VALUE : ANY_OBJECT);
      checkReadings(graph);
      const whole = new GrammarWriter(graph, rules).write();
      return `${ruleName} ::= ${whole}\n${rules}`;
    });
  } catch (error) {
    if (error instanceof TookTooLong) {
      throw invalidRequest(`The schema takes ${error.message} to compile: ${param}.`, param, "invalid_value");
    }
    if (error instanceof PatternRefused) {
      throw unsupportedValue(`Texts of the schema cannot be told apart: ${error.message} (${param}).`, param);
    }
    if (error instanceof RangeError) {
      throw invalidRequest(`The schema's parts lie too deep in each other: ${param}.`, param, "invalid_value");
    }
    throw error;
  }
}

/** As `grammarRulesOf`, for any JSON object. */
export function anyObjectRules(ruleName: string): string {
  const rules = new RuleBook(ruleName, () => {});
  return `${ruleName} ::= ${new JsonRules(rules).object}\n${rules}`;
}

function checkSize(rules: number, characters: number, param: string): void {
  if (rules > LIMITS.rules || characters > LIMITS.grammarCharacters) {
    throw invalidRequest(
      `The schema is too large: its grammar would have more than ${LIMITS.rules} rules or ${LIMITS.grammarCharacters} characters.`,
      param,
      "invalid_value",
    );
  }
}
