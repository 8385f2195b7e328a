/** Compiles JSON Schemas to GBNF. Throws a SchemaError for everything that a grammar cannot enforce exactly. */

import { checkAmbiguity } from "./ambiguity-check.ts";
import { RuleSet } from "./gbnf.ts";
import { GrammarWriter } from "./grammar-writer.ts";
import { JsonRules } from "./json-rules.ts";
import { LIMITS } from "./limits.ts";
import { runWithTimeout, TimeoutError } from "./run-with-timeout.ts";
import { SchemaDocument } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { SchemaGraph } from "./schema-graph.ts";
import { UnsupportedPattern } from "./string-language.ts";
import { ANY_OBJECT, ANY_VALUE } from "./value-constraints.ts";

/** Compiles a complete grammar with the rule `root`. `path` is the location of the schema, as errors name it. */
export function compileGrammar(schema: unknown, path: string): string {
  return compileRules(schema, path, "root");
}

/** A complete grammar for any JSON object. */
export function anyObjectGrammar(): string {
  return anyObjectRules("root");
}

export interface RuleOptions {
  values?: "any" | "objects" | undefined;
  timeoutMs?: number | undefined;
  /**
   * Collects the paths of keywords that the rules do not enforce, whose values have to be validated. Without it, such a
   * keyword is a SchemaError.
   */
  unenforced?: Set<string> | undefined;
}

/**
 * Compiles rules that can be combined with others: `ruleName`, and the rules that it needs, prefixed with `ruleName` and two
 * dashes. `ruleName` consists of letters, digits and single dashes. `objects` restricts the values to objects, for the
 * arguments of tools, whose schemas often omit `type`.
 */
export function compileRules(
  schema: unknown,
  path: string,
  ruleName: string,
  { values = "any", timeoutMs = LIMITS.compileMs, unenforced }: RuleOptions = {},
): string {
  const rules = new RuleSet(ruleName, (count, characters) => checkSize(count, characters, path));
  try {
    return runWithTimeout(timeoutMs, () => {
      const graph = new SchemaGraph(
        new SchemaDocument(schema, path, unenforced),
        values === "any" ? ANY_VALUE : ANY_OBJECT,
      );
      checkAmbiguity(graph);
      const root = new GrammarWriter(graph, rules).write();
      return `${ruleName} ::= ${root}\n${rules}`;
    });
  } catch (error) {
    if (error instanceof TimeoutError) {
      throw new SchemaError("too_complex", `The schema took ${error.message} to compile. Simplify it: ${path}.`, path, {
        cause: error,
      });
    }
    if (error instanceof UnsupportedPattern) {
      throw new SchemaError(
        "unsupported",
        `The schema's strings cannot be enforced: ${error.message} (${path}).`,
        path,
      );
    }
    if (error instanceof RangeError) {
      throw new SchemaError("too_complex", `The schema is nested too deeply: ${path}.`, path);
    }
    throw error;
  }
}

/** Rules for any JSON object, named as by `compileRules`. */
export function anyObjectRules(ruleName: string): string {
  const rules = new RuleSet(ruleName, () => {});
  return `${ruleName} ::= ${new JsonRules(rules).object}\n${rules}`;
}

function checkSize(rules: number, characters: number, path: string): void {
  if (rules > LIMITS.rules || characters > LIMITS.grammarCharacters) {
    throw new SchemaError(
      "too_complex",
      `The schema is too large: its grammar would have more than ${LIMITS.rules} rules or ${LIMITS.grammarCharacters} characters.`,
      path,
    );
  }
}
