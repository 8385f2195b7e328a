/** Settings that a client secret fixes: its holder cannot choose others. */

import { isDeepStrictEqual } from "node:util";
import { invalidRequest } from "../../kernel/faults.ts";

/** A configuration as it is sent: each leaf, a list or null included, is one setting. */
type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the update with the fixed settings beside its own, since an update replaces some objects as a whole. Throws a
 * Fault that names the first setting of the update that differs from a fixed one.
 */
export function bindSession<Update extends object>(update: Update, fixed: Json, path: string): Update {
  return merge(toJson(update), fixed, path) as Update;
}

/** Throws a Fault that names the first parameter that differs from a fixed one. */
export function checkBound(parameters: object, fixed: Json, path: string): void {
  merge(toJson(parameters), fixed, path);
}

function merge(value: unknown, fixed: unknown, path: string): unknown {
  if (value === undefined) return fixed;
  if (isObject(value) && isObject(fixed)) {
    const bound = Object.entries(fixed).map(([key, each]) => [key, merge(value[key], each, `${path}.${key}`)]);
    return { ...value, ...Object.fromEntries(bound) };
  }
  if (isDeepStrictEqual(value, fixed)) return value;
  const message = `The client secret of this session fixes '${path}'. Leave it out, or create another secret.`;
  throw invalidRequest(message, path, "fixed_by_client_secret");
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without the fields that are undefined, as in the JSON of the secret. */
function toJson(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}
