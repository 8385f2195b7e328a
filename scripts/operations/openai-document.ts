/** Operations of OpenAI's OpenAPI document (github.com/openai/openai-openapi). */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

export interface DocumentedOperations {
  /** `info.version` of the document. */
  version: string;
  /** "METHOD /path", in the document's order. */
  operations: readonly string[];
}

/** The list of the document that was read last: the document itself has 3 MB. */
export const LISTED_DOCUMENT: string = resolve(import.meta.dirname, "openai-operations.json");

const METHODS = new Set(["get", "post", "put", "patch", "delete"]);
/** The Assistants API, which OpenAI has switched off. */
const ASSISTANTS = /^\/(assistants|threads)\b/;

interface OpenApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, { deprecated?: boolean }>>;
}

/** Reads the operations that are not deprecated from a document in JSON or YAML. */
export function readDocument(path: string): DocumentedOperations {
  const { info, paths } = parse(readFileSync(path, "utf8")) as OpenApiDocument;
  const operations = Object.entries(paths).flatMap(([address, methods]) =>
    Object.entries(methods)
      .filter(([method, { deprecated }]) => METHODS.has(method) && deprecated !== true && !ASSISTANTS.test(address))
      // The document repeats paths with `?beta=true` for the types of beta headers.
      .map(([method]) => `${method.toUpperCase()} ${address.replace(/\?.*$/, "")}`),
  );
  return { version: info.version, operations: [...new Set(operations)] };
}
