/** Describes what a schema rejected, without showing the value. */

import type { core } from "zod";
import type { Path } from "./config-errors.ts";

/** Zod's `error` option for every parse; a schema's own message takes precedence. */
export function describeIssue(issue: core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === "invalid_type" || issue.code === "invalid_value")) {
    return "is required";
  }
  switch (issue.code) {
    case "invalid_type":
      return typeof issue.input === "number" && issue.expected === "int"
        ? "must be a whole number"
        : `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}, not ${nameOf(issue.input)}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    default:
      return undefined;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function bound(origin: string, comparison: string, limit: number | bigint): string {
  if (origin === "string") return `must have ${comparison} ${limit} characters`;
  if (origin === "array" || origin === "set")
    return `must have ${comparison} ${limit} ${limit === 1 ? "item" : "items"}`;
  return `must be ${comparison} ${limit}`;
}

function nameOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "boolean") return "true or false";
  return `a ${typeof value}`;
}

export interface Finding {
  path: Path;
  message: string;
  /** Key that the schema does not know; `path` leads to the mapping around it. */
  unknownKey: string | undefined;
}

/** Flattens issues: one finding per unknown key, and only the closest branch of a union. */
export function findings(issues: readonly core.$ZodIssue[], base: Path = []): Finding[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...(issue.path as Path)];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path, message: "is not a known key", unknownKey: key }));
    }
    if (issue.code === "invalid_union" && issue.errors.length > 0) {
      return alternatives(issue.errors, path);
    }
    return [{ path, message: issue.message, unknownKey: undefined }];
  });
}

/** Lists all alternatives for a plain value; for a mapping, reports only the branch with the fewest errors. */
function alternatives(errors: readonly (readonly core.$ZodIssue[])[], path: Path): Finding[] {
  const branches = errors.map((issues) => findings(issues, path));
  const isPlain = branches.every(([only, ...more]) => more.length === 0 && only?.path.length === path.length);
  if (!isPlain) return branches.reduce((best, each) => (each.length < best.length ? each : best));
  const [first = "", ...others] = new Set(branches.flat().map(({ message }) => message));
  const message = [first, ...others.map((other) => other.replace(/^must be /, ""))].join(", or ");
  return [{ path, message, unknownKey: undefined }];
}
