/** Named schemas of the OpenAPI document, and the conversion of zod schemas to JSON Schema. */

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { itemsOf } from "../../kernel/list-of.ts";
import { variantsOf } from "../openai/open-variants.ts";
import { descriptionOf } from "./described-by.ts";
import { names } from "./named.ts";

/** Subset of JSON Schema that this folder reads. */
export type JsonSchema = Record<string, unknown> & { properties?: Record<string, JsonSchema>; required?: string[] };

/** Converts zod schemas and collects the named ones. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /** Every operation has the same schemas of errors. */
  readonly #conversions: Record<"input" | "output", Map<z.ZodType, JsonSchema>> = {
    input: new Map(),
    output: new Map(),
  };

  /** Schema of what clients send: defaults are optional, and only strict objects refuse other keys. */
  input(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, "input");
  }

  /** Schema of what the service answers. */
  answer(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, "output");
  }

  #convert(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const conversions = this.#conversions[io];
    const json = conversions.get(schema) ?? this.#toComponent(schema, io);
    conversions.set(schema, json);
    return json;
  }

  #toComponent(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const id = names.get(schema)?.id;
    const { $schema: _, $defs = {}, ...root } = this.#toJsonSchema(schema, io) as Record<string, unknown>;
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) this.#add(name, definition);
    return id === undefined || root.$ref === toReference(id).$ref ? root : this.#add(id, root);
  }

  /** Throws if another schema has the name: a client would get the type of one of them for both. */
  #add(name: string, { id: _, ...schema }: JsonSchema): JsonSchema {
    this.schemas[name] ??= schema;
    if (!isDeepStrictEqual(this.schemas[name], schema)) throw new Error(`Two schemas have the name ${name}`);
    return toReference(name);
  }

  /** The known variants, and those with another `type`, which an upstream may support. */
  #anyOf(variants: [type: string, schema: z.ZodType][]): JsonSchema[] {
    const mapping = variants.map(([type, schema]) => {
      const { properties, ...rest } = this.#convert(schema, "input");
      return { ...rest, properties: { type: { const: type }, ...properties } };
    });
    return [...mapping, { properties: { type: { not: { enum: variants.map(([type]) => type) } } } }];
  }

  /** Items of a recursive list are among named variants, one of which contains it: it is being converted. */
  #toItems(items: z.ZodType, io: "input" | "output"): JsonSchema {
    const variants = items instanceof z.ZodLazy ? items.unwrap() : undefined;
    if (!(variants instanceof z.ZodUnion)) return this.#convert(items, io);
    const toVariant = (variant: z.ZodType) => {
      const id = names.get(variant)?.id;
      return id === undefined ? this.#convert(variant, io) : toReference(id);
    };
    return { anyOf: (variants.options as z.ZodType[]).map(toVariant) };
  }

  #toJsonSchema(schema: z.ZodType, io: "input" | "output"): unknown {
    const json = z.toJSONSchema(schema, {
      io,
      metadata: names,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const each = zodSchema as unknown as z.ZodType;
        // Zod reads descriptions from its global registry only.
        if (each.description !== undefined) jsonSchema.description = each.description;
        const description = descriptionOf(each);
        if (description !== undefined) replace(jsonSchema, this.#convert(description, "input"));
        const items = itemsOf(each);
        if (items !== undefined) jsonSchema.items = this.#toItems(items, io) as typeof jsonSchema;
        const variants = Object.entries(variantsOf(each) ?? {});
        if (variants.length > 0 && io === "input") jsonSchema.anyOf = this.#anyOf(variants) as (typeof jsonSchema)[];
        // The types of clients tell the known variants apart only without the others.
        if (variants.length > 0 && io === "output") {
          replace(jsonSchema, { oneOf: variants.map(([, variant]) => this.#convert(variant, io)) });
        }
        const { def } = each._zod;
        // What a preprocessing step takes, its schema describes after the step.
        if (io === "input" && isPreprocess(def)) Object.assign(jsonSchema, this.#convert(def.out, io));
      },
    });
    return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'), (key, value) =>
      isUnbounded(key, value) ? undefined : value,
    );
  }
}

/** Replaces all keywords but the description. */
function replace(json: z.core.JSONSchema.BaseSchema, other: JsonSchema): void {
  const { description } = json;
  for (const keyword of Object.keys(json)) delete json[keyword];
  Object.assign(json, other, description !== undefined && { description });
}

function toReference(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function isPreprocess(def: z.core.$ZodTypeDef): def is z.core.$ZodPipeDef & { out: z.ZodType } {
  return def.type === "pipe" && (def as z.core.$ZodPipeDef).in._zod.def.type === "transform";
}

/** Bounds that only Zod adds to integers. */
function isUnbounded(key: string, value: unknown): boolean {
  return (
    (key === "maximum" && value === Number.MAX_SAFE_INTEGER) || (key === "minimum" && value === Number.MIN_SAFE_INTEGER)
  );
}
