/** Members of Google's `Schema` without a meaning for JSON Schema. */
const DROPPED: ReadonlySet<string> = new Set(["propertyOrdering", "example", "nullable"]);
/** Numbers that Google's JSON writes as strings (int64). */
const COUNTS: ReadonlySet<string> = new Set([
  ...["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"],
]);

type Fields = Readonly<Record<string, unknown>>;

/** Converts Google's `Schema`, a part of OpenAPI 3.0 with types in capitals, to JSON Schema. */
export function toJsonSchema(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const { nullable } = schema as Fields;
  const converted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (!DROPPED.has(name)) converted[name] = toMember(name, value);
  }
  if (nullable !== true) return converted;
  if (Array.isArray(converted.enum)) converted.enum = [...converted.enum, null];
  return typeof converted.type === "string"
    ? { ...converted, type: [converted.type, "null"] }
    : { anyOf: [converted, { type: "null" }] };
}

function toMember(name: string, value: unknown): unknown {
  if (name === "type" && typeof value === "string") return value.toLowerCase();
  if (COUNTS.has(name)) return Number(value);
  if (name === "items" || name === "additionalProperties") return toJsonSchema(value);
  if (name === "anyOf" && Array.isArray(value)) return value.map(toJsonSchema);
  if (name !== "properties" || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJsonSchema(each)]));
}
