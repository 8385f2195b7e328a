import { SchemaError } from "@parlance-inference/json-schema-grammar/errors";
import { invalidRequest, unsupportedValue } from "../faults.ts";

/** Runs a step that compiles a caller's schema, and rethrows its SchemaError as the Fault for the caller. */
export function withSchemaFaults<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw error instanceof SchemaError ? schemaFault(error) : error;
  }
}

function schemaFault({ code, message, path }: SchemaError) {
  return code === "unsupported" ? unsupportedValue(message, path) : invalidRequest(message, path, "invalid_value");
}
