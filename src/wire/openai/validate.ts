/** Validates input against a Zod schema and words the first error as clients of this API expect it. */

import type { ZodType, z } from "zod";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";

type Issue = z.core.$ZodIssue;

/**
 * Parses `value` with `schema`. Throws a Fault whose `param` is the path of the first invalid field. `explain` may return
 * a more helpful Fault for the path of the error.
 */
export function parse<Schema extends ZodType>(
  schema: Schema,
  value: unknown,
  explain?: (path: readonly PropertyKey[]) => Fault | undefined,
): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw invalidRequest("The request is not valid.");
  const specific = mostSpecific(issue, []);
  throw explain?.(specific.path) ?? toFault(specific);
}

/** Formats `["messages", 0, "role"]` as `messages[0].role`. */
function toPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

/** Finds the most specific error: in a union, the branch that got furthest into the value describes it best. */
function mostSpecific(issue: Issue, prefix: readonly PropertyKey[]): Issue {
  const path = [...prefix, ...issue.path];
  // Zod's own message would be "Invalid key in record".
  if (issue.code === "invalid_key" && issue.issues[0] !== undefined) return mostSpecific(issue.issues[0], path);
  if (issue.code !== "invalid_union") return { ...issue, path };
  if (issue.errors.length === 0) return unknownVariant(issue, path);
  const inner = issue.errors.flat().map((each) => mostSpecific(each, path));
  const furthest = inner.filter((each) => each.path.length > path.length || each.code !== "invalid_type");
  if (furthest.length > 0) return furthest.reduce((best, each) => (each.path.length > best.path.length ? each : best));
  const expected = inner.map((each) => (each.code === "invalid_type" ? each.expected : "string"));
  const any = [...new Set(expected)].map(describeExpected).join(" or ");
  return { code: "invalid_type", expected: any as "string", path, message: "", input: issue.input };
}

/** Words an unknown discriminator of a union; the schema's message lists the known ones. */
function unknownVariant(issue: Issue, path: PropertyKey[]): Issue {
  const value = (issue.input as Record<PropertyKey, unknown> | undefined)?.[path.at(-1) ?? ""];
  if (value === undefined) return { code: "invalid_type", expected: "string", path, message: "", input: undefined };
  const { options } = issue as { options?: readonly unknown[] };
  const hasOwnMessage = !issue.message.startsWith("Invalid discriminator value");
  const message = hasOwnMessage || options === undefined ? issue.message : `it must be ${listOf(options)}`;
  return { code: "custom", path, message, input: value };
}

function listOf(values: readonly unknown[]): string {
  return values.map((each) => JSON.stringify(each)).join(" or ");
}

function toFault(issue: Issue): Fault {
  const path = toPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    const param = toPath([...issue.path, issue.keys[0] ?? ""]);
    return invalidRequest(`Unknown parameter: '${param}'.`, param, "unknown_parameter");
  }
  const name = path === "" ? "the request body" : `'${path}'`;
  const param = path === "" ? undefined : path;
  if (issue.input === undefined && path === "") return invalidRequest("The request body is empty; it must be JSON.");
  const isMissing = issue.input === undefined && issue.path.length > 0;
  if (isMissing && issue.code !== "custom") {
    return invalidRequest(`Missing required parameter: ${name}.`, param, "missing_required_parameter");
  }
  const [message, code] = problemOf(issue, name);
  return invalidRequest(`${message}.`, param, code);
}

function problemOf(
  issue: Exclude<Issue, { code: "unrecognized_keys" }>,
  name: string,
): [message: string, code: string] {
  switch (issue.code) {
    case "invalid_type":
      // A field that only null passes says why there is no other value.
      return issue.expected === "null" && !issue.message.startsWith("Invalid input")
        ? [`Invalid value for ${name}: ${issue.message}`, "unsupported_value"]
        : [wrongType(name, describeExpected(issue.expected), issue.input), "invalid_type"];
    case "too_big": {
      const bound = describeBound(issue.origin, "at most", issue.maximum, issue.input);
      return [`${name} is too large: ${bound}`, codeAboveMaximum(issue.origin)];
    }
    case "too_small": {
      const bound = describeBound(issue.origin, "at least", issue.minimum, issue.input);
      return [`${name} is too small: ${bound}`, codeBelowMinimum(issue.origin, issue.input)];
    }
    case "invalid_value":
      return typeof issue.input === "string" || issue.values.length === 1
        ? [`Invalid value for ${name}: it must be ${listOf(issue.values)}`, "invalid_value"]
        : [wrongType(name, `one of ${listOf(issue.values)}`, issue.input), "invalid_type"];
    default:
      return [`Invalid value for ${name}: ${reasonOf(issue)}`, codeOf(issue) ?? "invalid_value"];
  }
}

function wrongType(name: string, expected: string, input: unknown): string {
  return `Wrong type for ${name}: it must be ${expected}, not ${describeGiven(input)}`;
}

/** Words what Zod words for programmers; messages of schemas are for callers. */
function reasonOf(issue: Issue): string {
  if (!issue.message.startsWith("Invalid ")) return issue.message;
  if (issue.code === "invalid_format") {
    return issue.format === "regex" ? `it must match ${issue.pattern}` : `it must be a valid ${issue.format}`;
  }
  return issue.code === "not_multiple_of" ? `it must be a multiple of ${issue.divisor}` : "this API does not take it";
}

function codeOf(issue: Issue): string | undefined {
  if (issue.code !== "custom") return undefined;
  const code: unknown = issue.params?.code;
  return typeof code === "string" ? code : undefined;
}

function codeAboveMaximum(origin: string): string {
  if (origin === "int") return "integer_above_max_value";
  return origin === "number" ? "decimal_above_max_value" : "invalid_value";
}

/** Returns the error code for the kind of number that was sent, which Zod does not distinguish. */
function codeBelowMinimum(origin: string, given: unknown): string {
  if (origin !== "int" && origin !== "number") return "invalid_value";
  return Number.isInteger(given) ? "integer_below_min_value" : "decimal_below_min_value";
}

function describeBound(origin: string, bound: "at most" | "at least", limit: unknown, given: unknown): string {
  if (origin === "string")
    return `${bound} ${limit} ${limit === 1 ? "character" : "characters"}, not ${String(given).length}`;
  if (origin === "array")
    return `${bound} ${limit} ${limit === 1 ? "entry" : "entries"}, not ${Array.isArray(given) ? given.length : "so many"}`;
  if (origin === "object") return `${bound} ${limit} keys`;
  return `${bound} ${limit}, not ${String(given)}`;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

function describeExpected(expected: string): string {
  return EXPECTED[expected] ?? expected;
}

function describeGiven(given: unknown): string {
  if (given === null) return "null";
  if (Array.isArray(given)) return "an array";
  if (Number.isNaN(given)) return "a text";
  if (typeof given === "number") return Number.isInteger(given) ? "a whole number" : "a decimal number";
  if (typeof given === "object") return "an object";
  return given === undefined ? "nothing" : `a ${typeof given}`;
}
