/** Compares operations by method and path, whatever the parameters of the path are called. */

export interface Comparison {
  present: number;
  missing: string[];
}

/** `served`: "METHOD /v1/path"; `wanted`: "METHOD /path", as OpenAI writes them below its base URL. */
export function compareOperations(served: readonly string[], wanted: readonly string[]): Comparison {
  const keys = new Set(served.map((operation) => toKey(operation.replace(" /v1/", " /"))));
  const missing = wanted.filter((operation) => !keys.has(toKey(operation)));
  return { present: wanted.length - missing.length, missing };
}

function toKey(operation: string): string {
  return operation.replaceAll(/\{[^}]*\}/g, "{}");
}
