/** Fields that hold what a caller defines, whose names are not those of the API. */
const FREE: ReadonlySet<string> = new Set([
  ...["args", "response", "labels", "properties", "default", "example", "enum"],
  ...["parametersJsonSchema", "responseJsonSchema", "_responseJsonSchema"],
]);
/** No field of the API has a longer name; one may have megabytes. */
const MAX_NAME_LENGTH = 64;

/** Returns the value with names in camel case: Google's APIs read fields in snake case too, as curl examples write them. */
export function camelFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelFields);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const camel = toCamel(name);
      return [camel, FREE.has(camel) ? field : camelFields(field)];
    }),
  );
}

function toCamel(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return name;
  return name.replaceAll(/(?<=[a-z\d])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
