import { SchemaError } from "@parlance-inference/json-schema-grammar/errors";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { toStartFault } from "../../kernel/process/start-fault.ts";

/** Runs work on a caller's schema and rethrows a SchemaError as a Fault. */
export async function withSchemaFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SchemaError ? schemaFault(error) : toStartFault(error);
  }
}

function schemaFault({ code, message, path }: SchemaError) {
  return code === "unsupported" ? unsupportedValue(message, path) : invalidRequest(message, path, "invalid_value");
}
