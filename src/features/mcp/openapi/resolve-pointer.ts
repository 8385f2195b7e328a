/** References within a document. Those to other documents are not followed. */

export type Mapping = Record<string, unknown>;

/** References in a row. */
const MAX_REFERENCES = 20;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns what `#/…` refers to; undefined: nothing in this document. */
export function resolvePointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let value = document;
  for (const token of reference.slice(2).split("/")) {
    const key = decode(token).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Mapping)[key];
  }
  return value;
}

/** Returns an object of the document, or what it refers to; undefined: there is none. */
export function dereference(document: unknown, value: unknown): Mapping | undefined {
  let target = value;
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    if (!isMapping(target)) return undefined;
    if (typeof target.$ref !== "string") return target;
    target = resolvePointer(document, target.$ref);
  }
  return undefined;
}

function decode(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
