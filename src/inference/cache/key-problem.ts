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
    switch (typeof value) {
      case "string":
        characters += value.length + 1;
        if (characters > MAX_CHARACTERS) return "size";
        if (ADDRESS.test(name)) return value.startsWith("data:") ? undefined : "references";
        return FILE_ID.test(name) ? "references" : undefined;
      case "number":
        characters += 1;
        if (characters > MAX_CHARACTERS) return "size";
        return Math.abs(value) > Number.MAX_SAFE_INTEGER ? "number" : undefined;
      case "object":
        if (value === null) return undefined;
        if (Array.isArray(value)) return first(value, (each) => visit(each, name));
        // Paths in the caller's body, for errors.
        return first(Object.entries(value), ([key, each]) => (key === "param" ? undefined : visit(each, key)));
      default:
        return undefined;
    }
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
