/** Validates complete values, for engines that do not constrain generation to a schema. */

import { Ajv, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { LIMITS } from "./limits.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { runWithTimeout, TimeoutError } from "./run-with-timeout.ts";
import { describeViolation, isLegacyDraft, SchemaDocument, withoutDraft4 } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";

/** Returns the first violation with its location in the value, or undefined. Throws a SchemaError after `timeoutMs`. */
export type Validator = (value: unknown, timeoutMs?: number) => string | undefined;

/** Throws a SchemaError when the schema cannot be used. `path` is the location of the schema, as errors name it. */
export function compileValidator(
  schema: unknown,
  path: string,
  compileTimeoutMs: number = LIMITS.compileMs,
): Validator {
  const isValid = limited("compile", compileTimeoutMs, path, () => compile(schema, path));
  return (value, timeoutMs = LIMITS.validateMs) =>
    limited("validate against", timeoutMs, path, () => {
      try {
        return isValid(value) ? undefined : describeViolation(isValid.errors);
      } catch (error) {
        // ajv compares objects by calling `valueOf`, which may be a property of the value.
        if (error instanceof TypeError) return "/ cannot be compared";
        throw error;
      }
    });
}

function compile(schema: unknown, path: string) {
  new SchemaDocument(schema, path);
  const options: Options = { strict: false, logger: false, ownProperties: true, code: { regExp: compilePattern } };
  const ajv = isLegacyDraft(schema) ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  try {
    return ajv.compile(withoutDialect(withoutDraft4(schema)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaError("invalid_schema", `The schema cannot be used: ${reason} (${path}).`, path);
  }
}

function limited<T>(action: string, timeoutMs: number, path: string, work: () => T): T {
  try {
    return runWithTimeout(timeoutMs, work);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    const message = `The schema took ${error.message} to ${action}. Simplify its patterns and references: ${path}.`;
    throw new SchemaError("too_complex", message, path, { cause: error });
  }
}

function withoutDialect(schema: unknown): object | boolean {
  if (typeof schema !== "object" || schema === null) {
    return schema as boolean;
  }
  const { $schema: _dialect, ...rest } = schema as Record<string, unknown>;
  return rest;
}

/** Matches in linear time where the pattern allows it. The time limit of the validator bounds the others. */
function compilePattern(source: string, flags: string) {
  const pattern = compileLinearPattern(source) ?? new RegExp(source, flags);
  return {
    test: (text: string) => pattern.test(text),
    // ajv uses this as the key of its cache of patterns.
    toString: () => `/${source}/${flags}`,
  };
}
compilePattern.code = "compilePattern";
