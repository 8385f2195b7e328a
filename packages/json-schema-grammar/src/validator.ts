/** Validates complete values, for engines that do not constrain generation to a schema. */

import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { LIMITS } from "./limits.ts";
import { runWithTimeout, TimeoutError } from "./run-with-timeout.ts";
import { describeViolation, isLegacyDraft, SchemaDocument } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { codePoints, patternLanguage, UnsupportedPattern } from "./string-language.ts";

/** Time limit for one pattern on one string: hostile patterns backtrack exponentially. */
const PATTERN_MS = 500;
/** Time limit for one value: references to the same subschema can double the work at each level. */
const CHECK_MS = 2_000;

/**
 * Compiles a function that returns the first violation, with its location in the value, or undefined when the value is valid.
 * Throws a SchemaError when the schema cannot be used. `path` is the location of the schema, as errors name it.
 */
export function compileValidator(schema: unknown, path: string): (value: unknown) => string | undefined {
  new SchemaDocument(schema, path);
  const options: Options = { strict: false, logger: false, ownProperties: true, code: { regExp: safePattern } };
  const ajv = isLegacyDraft(schema) ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  let isValid: ValidateFunction;
  try {
    isValid = runWithTimeout(LIMITS.compileMilliseconds, () => ajv.compile(withoutDialect(schema)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaError("invalid_schema", `The schema cannot be used: ${reason} (${path}).`, path);
  }
  return (value) => {
    try {
      return runWithTimeout(CHECK_MS, () => isValid(value)) ? undefined : describeViolation(isValid.errors);
    } catch (error) {
      if (error instanceof TimeoutError) {
        return `/ took ${error.message} to validate`;
      }
      if (error instanceof TypeError) {
        // ajv compares objects by calling `valueOf`, which may be a property of the value.
        return "/ cannot be compared";
      }
      throw error;
    }
  };
}

function withoutDialect(schema: unknown): object | boolean {
  if (typeof schema !== "object" || schema === null) {
    return schema as boolean;
  }
  const { $schema: _dialect, ...rest } = schema as Record<string, unknown>;
  return rest;
}

/** Matches in linear time wherever the pattern is regular. */
function safePattern(source: string, flags: string) {
  let language: ReturnType<typeof patternLanguage> | undefined;
  try {
    language = patternLanguage(source);
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) {
      throw error;
    }
  }
  return {
    test: (text: string) => language?.test(codePoints(text)) ?? findsWithin(PATTERN_MS, source, flags, text),
    // ajv uses this as the key of its cache of patterns.
    toString: () => `/${source}/${flags}`,
  };
}
safePattern.code = "safePattern";

function findsWithin(milliseconds: number, source: string, flags: string, text: string): boolean {
  try {
    return runWithTimeout(milliseconds, () => new RegExp(source, flags).test(text));
  } catch (error) {
    if (error instanceof TimeoutError) {
      return false;
    }
    throw error;
  }
}
