import { ApiError } from "../api/request.ts";

/** Returns the field of a form that a failure is about, by the parameter that the answer names; undefined for others. */
export function fieldOf(failure: unknown, fields: Readonly<Record<string, string>>): string | undefined {
  if (!(failure instanceof ApiError) || failure.param === null) return undefined;
  const [root = ""] = failure.param.split(/[.[]/);
  return fields[failure.param] ?? fields[root];
}
