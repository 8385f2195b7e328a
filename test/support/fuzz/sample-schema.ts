/** Generates values of a JSON schema. What custom checks refuse, the caller draws again. */

import type { JsonSchema } from "../../../src/wire/openapi/components.ts";

export type Random = () => number;

const MAX_DEPTH = 6;

export function sampleSchema(schema: JsonSchema, random: Random, depth = 0): unknown {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return pick(schema.enum);
  const variants = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (variants !== undefined) {
    const known = variants.filter((each) => each.type !== "null" && !isOpenVariant(each));
    const variant = sampleSchema(pick(known), random, depth);
    return schema.properties === undefined
      ? variant
      : { ...sampleObject(schema, random, depth), ...(variant as object) };
  }
  const type = Array.isArray(schema.type) ? pick(schema.type) : schema.type;
  const { minimum = 0, maximum = 1000, exclusiveMinimum } = schema as Record<string, number | undefined>;
  switch (type) {
    case "string":
      return `text ${Math.floor(random() * 1e6)}`;
    case "boolean":
      return random() < 0.5;
    case "integer":
      return minimum + Math.floor(random() * (Math.min(maximum, minimum + 1000) - minimum + 1));
    case "number":
      return (exclusiveMinimum ?? minimum) + random() * (Math.min(maximum, 2) - minimum);
    case "array": {
      const length = Math.max(Number(schema.minItems ?? 0), 1 + Math.floor(random() * 2));
      return Array.from({ length }, () => sampleSchema((schema.items ?? {}) as JsonSchema, random, depth + 1));
    }
    case "object":
      return sampleObject(schema, random, depth);
    default:
      return pick([
        `any ${random()}`,
        random(),
        1 + Math.floor(9 * random()),
        random() < 0.5,
        [`item ${random()}`],
        { key: `value ${random()}` },
      ]);
  }
}

function sampleObject({ properties = {}, required = [] }: JsonSchema, random: Random, depth: number): object {
  const object: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const isTaken = required.includes(name) || "const" in schema || (depth < MAX_DEPTH && random() < 0.4);
    if (isTaken) object[name] = sampleSchema(schema, random, depth + 1);
  }
  if (Object.keys(properties).length === 0) object[`key${Math.floor(random() * 9)}`] = `value ${random()}`;
  return object;
}

/** Variants with another `type` than the known ones. */
function isOpenVariant({ properties }: JsonSchema): boolean {
  return properties?.type !== undefined && "not" in properties.type;
}
