/** Values of a JSON schema with a marker in one of its strings: one value for each place where a string may stand. */

import type { JsonSchema } from "../../../src/wire/openapi/components.ts";

export interface SchemaDocument {
  components: { schemas: Record<string, JsonSchema> };
}

const MAX_DEPTH = 9;

export class MarkedValues {
  readonly #document: SchemaDocument;
  readonly #marker: string;

  constructor(document: SchemaDocument, marker: string) {
    this.#document = document;
    this.#marker = marker;
  }

  *of(schema: JsonSchema, depth = 0): Generator<unknown> {
    const resolved = this.#resolve(schema);
    if (depth > MAX_DEPTH || "const" in resolved || Array.isArray(resolved.enum)) return;
    const variants = variantsOf(resolved);
    if (variants.length > 0) {
      const outer = resolved.properties === undefined ? undefined : (this.#least(withoutVariants(resolved)) as object);
      for (const variant of variants)
        for (const value of this.of(variant, depth))
          yield outer === undefined ? value : { ...outer, ...(value as object) };
      if (outer === undefined) return;
    }
    yield* this.#ofType(resolved, depth);
  }

  *#ofType(schema: JsonSchema, depth: number): Generator<unknown> {
    const types = [schema.type].flat();
    if (types.includes("string")) yield this.#marker;
    if (types.includes("array"))
      for (const item of this.of((schema.items ?? {}) as JsonSchema, depth + 1)) yield [item];
    if (types.includes("object")) yield* this.#objects(schema, depth);
    // Anything: as a text, in a part of a message, as a key.
    if (schema.type === undefined && schema.properties === undefined && variantsOf(schema).length === 0) {
      yield* [this.#marker, [this.#marker], { note: this.#marker }, { [this.#marker]: 1 }];
    }
  }

  *#objects(schema: JsonSchema, depth: number): Generator<object> {
    const least = this.#least(schema) as object;
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      for (const value of this.of(property, depth + 1)) yield { ...least, [name]: value };
    }
    const { additionalProperties } = schema;
    if (typeof additionalProperties !== "object") return;
    for (const value of this.of(additionalProperties as JsonSchema, depth + 1)) yield { ...least, note: value };
    yield { ...least, [this.#marker]: this.#least(additionalProperties as JsonSchema) };
  }

  /** The smallest value that the schema allows. */
  #least(schema: JsonSchema): unknown {
    const resolved = this.#resolve(schema);
    if ("const" in resolved) return resolved.const;
    if (Array.isArray(resolved.enum)) return resolved.enum[0];
    const [variant] = variantsOf(resolved);
    const inner = variant === undefined ? undefined : this.#least(variant);
    if (variant !== undefined && resolved.properties === undefined) return inner;
    switch ([resolved.type].flat()[0]) {
      case "string":
        return "x";
      case "boolean":
        return true;
      case "integer":
      case "number":
        return Math.max(1, Number(resolved.minimum ?? 1));
      case "array": {
        const { minItems = 1, items = {} } = resolved;
        return Array.from({ length: Number(minItems) }, () => this.#least(items as JsonSchema));
      }
      case "null":
        return null;
      case undefined:
        if (resolved.properties === undefined) return "x";
    }
    const properties = Object.entries(resolved.properties ?? {});
    const names = [
      ...(resolved.required ?? []),
      ...properties.flatMap(([name, each]) => ("const" in each ? [name] : [])),
    ];
    const fields = names.map((name) => {
      const value = this.#least(resolved.properties?.[name] ?? {});
      // An address is read before anything else of a request.
      return [name, value === "x" && name.endsWith("url") ? "data:image/png;base64,AAAA" : value];
    });
    return { ...Object.fromEntries(fields), ...(inner as object) };
  }

  #resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== "string") return schema;
    return this.#resolve(this.#document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  }
}

function withoutVariants({ anyOf: _any, oneOf: _one, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Variants that the service reads: neither null nor a type that only an upstream may know. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  const variants = (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[];
  return variants.filter(({ type, properties }) => {
    const isOpen = properties?.type !== undefined && "not" in properties.type;
    return type !== "null" && !isOpen;
  });
}
