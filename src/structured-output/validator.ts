/** Checks finished answers, of engines that are not held to a schema while they write. */

import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { invalidRequest } from "../faults.ts";
import { LIMITS } from "./limits.ts";
import { describeViolation, isEarlierDraft, SchemaDocument } from "./schema-document.ts";
import { codePoints, PatternRefused, patternLanguage } from "./text-language.ts";
import { TookTooLong, withinTime } from "./within-time.ts";

/** How long one pattern may take on one text; a hostile one can take for ever. */
const PATTERN_MS = 500;
/** How long one answer may take: references that lead to the same place double the work with each step. */
const CHECK_MS = 2_000;

/**
 * A check that returns the first violation in words, with its path in the value, or undefined when there is none. Throws a
 * Fault when `schema` is none that can be used; `param` is its path in the caller's body.
 */
export function validatorOf(schema: unknown, param: string): (value: unknown) => string | undefined {
  new SchemaDocument(schema, param);
  const options: Options = { strict: false, logger: false, ownProperties: true, code: { regExp: safePattern } };
  const ajv = isEarlierDraft(schema) ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  let isValid: ValidateFunction;
  try {
    isValid = withinTime(LIMITS.compileMilliseconds, () => ajv.compile(withoutDialect(schema)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidRequest(`The schema cannot be used: ${reason} (${param}).`, param, "invalid_value");
  }
  return (value) => {
    try {
      return withinTime(CHECK_MS, () => isValid(value)) ? undefined : describeViolation(isValid.errors);
    } catch (error) {
      if (error instanceof TookTooLong) {
        return `/ takes ${error.message} to check`;
      }
      if (error instanceof TypeError) {
        // ajv compares objects by calling their `valueOf`, which may be a property of the answer.
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

/** In time that grows with the text alone, where the pattern allows it. */
function safePattern(source: string, flags: string) {
  let language: ReturnType<typeof patternLanguage> | undefined;
  try {
    language = patternLanguage(source);
  } catch (error) {
    if (!(error instanceof PatternRefused)) {
      throw error;
    }
  }
  return {
    test: (text: string) => language?.test(codePoints(text)) ?? findsWithin(PATTERN_MS, source, flags, text),
    // By this, ajv tells patterns apart.
    toString: () => `/${source}/${flags}`,
  };
}
safePattern.code = "safePattern";

function findsWithin(milliseconds: number, source: string, flags: string, text: string): boolean {
  try {
    return withinTime(milliseconds, () => new RegExp(source, flags).test(text));
  } catch (error) {
    if (error instanceof TookTooLong) {
      return false;
    }
    throw error;
  }
}
