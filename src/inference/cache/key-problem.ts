/** Finds what a request must not contain for its answer to be cached. */

import type { BypassReason } from "./cache-outcome.ts";

export type KeyProblem = Extract<BypassReason, "size" | "references" | "number">;

/** Characters of a request above which it is not hashed: that would block other requests for tens of milliseconds. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Fields that name content elsewhere, which may change. */
const ADDRESS = /ur[il]$|^images$/i;
const FILE_ID = /file_?id$/i;

/**
 * Returns why a request has no key: its size, content at an address or in a file, or an integer that JavaScript does not
 * represent, although an upstream may get it as it was written. Undefined: it has one.
 */
export function findKeyProblem(parts: unknown): KeyProblem | undefined {
  let characters = 0;
  const visit = (value: unknown, name: string): KeyProblem | undefined => {
    if (typeof value === "string" || typeof value === "number") {
      characters += typeof value === "string" ? value.length + 1 : 1;
      return characters > MAX_CHARACTERS ? "size" : problemOf(value, name);
    }
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) return first(value, (each) => visit(each, name));
    // Paths in the caller's body, for errors.
    return first(Object.entries(value), ([key, each]) => (key === "param" ? undefined : visit(each, key)));
  };
  return visit(parts, "");
}

function first<Item>(items: readonly Item[], find: (item: Item) => KeyProblem | undefined): KeyProblem | undefined {
  for (const item of items) {
    const problem = find(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(value: string | number, name: string): KeyProblem | undefined {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? "number" : undefined;
  if (ADDRESS.test(name)) return value.startsWith("data:") ? undefined : "references";
  return FILE_ID.test(name) ? "references" : undefined;
}
