/**
 * `invalid_schema`: not a JSON Schema, or no value can satisfy it. `too_complex`: exceeds a limit of the compiler.
 * `unsupported`: valid, but a grammar cannot enforce it exactly.
 */
export type SchemaErrorCode = "invalid_schema" | "too_complex" | "unsupported";

/** The schema cannot be compiled. The message and `path` are safe to show to the author of the schema. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly code: SchemaErrorCode;
  /** Location of the offending keyword, such as `schema.properties.age.minimum`. */
  readonly path: string;

  constructor(code: SchemaErrorCode, message: string, path: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}
