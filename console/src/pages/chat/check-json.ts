/** Checks the JSON that a person types before it is sent, and says where it is wrong. */

export type Checked = { value: unknown; problem?: undefined } | { value?: undefined; problem: string };

/** Parses a text; an empty one has no value. */
export function checkJson(text: string): Checked {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    const [, position] = /position (\d+)/.exec(message) ?? [];
    const line = position === undefined ? "" : `Line ${text.slice(0, Number(position)).split("\n").length}: `;
    return { problem: `${line}this is not valid JSON.` };
  }
}

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Keywords whose value is one schema, an array of schemas, or schemas by name. */
const ONE = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const MANY = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED = ["properties", "patternProperties", "$defs", "definitions"];

/** Checks a JSON Schema's keywords. The service decides which of them a model can follow. */
export function checkSchema(text: string): Checked {
  const parsed = checkJson(text);
  if (parsed.problem !== undefined || parsed.value === undefined) return parsed;
  if (!isObject(parsed.value)) return { problem: "A JSON Schema is an object." };
  const problem = schemaProblem(parsed.value, "");
  return problem === undefined ? parsed : { problem };
}

const TOOL_NAME = /^[\w-]{1,64}$/;

/** Checks an array of tools of the type `function`. */
export function checkTools(text: string): Checked {
  const parsed = checkJson(text);
  if (parsed.problem !== undefined || parsed.value === undefined) return parsed;
  if (!Array.isArray(parsed.value)) return { problem: "Tools are an array." };
  for (const [index, tool] of parsed.value.entries()) {
    const problem = toolProblem(tool, `[${index}]`);
    if (problem !== undefined) return { problem };
  }
  return parsed;
}

function toolProblem(tool: unknown, path: string): string | undefined {
  if (!isObject(tool) || tool.type !== "function") return `${path}: type must be "function".`;
  const definition = tool.function;
  if (!isObject(definition)) return `${path}.function must be an object.`;
  if (typeof definition.name !== "string" || !TOOL_NAME.test(definition.name)) {
    return `${path}.function.name must be 1 to 64 letters, digits, - or _.`;
  }
  if (definition.parameters === undefined) return undefined;
  return schemaProblem(definition.parameters, `${path}.function.parameters`);
}

/** Checks extra fields of the request; `taken` have fields of their own. */
export function checkOther(text: string, taken: ReadonlySet<string>): Checked {
  const parsed = checkJson(text);
  if (parsed.problem !== undefined || parsed.value === undefined) return parsed;
  if (!isObject(parsed.value)) return { problem: "Extra request fields must be a JSON object." };
  const twice = Object.keys(parsed.value).find((name) => taken.has(name));
  return twice === undefined ? parsed : { problem: `Set ${twice} above.` };
}

function schemaProblem(schema: unknown, path: string): string | undefined {
  if (typeof schema === "boolean") return undefined;
  const at = path === "" ? "The schema" : path;
  if (!isObject(schema)) return `${at} must be a schema: an object, true or false.`;
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  const unknown = types.find((type) => !TYPES.has(type));
  if (unknown !== undefined) return `${below("type")}: ${JSON.stringify(unknown)} is not a type of JSON Schema.`;
  if (schema.required !== undefined && !isStrings(schema.required))
    return `${below("required")} must be an array of names.`;
  if (schema.enum !== undefined && !Array.isArray(schema.enum)) return `${below("enum")} must be an array.`;
  for (const name of ONE) {
    const problem = schema[name] === undefined ? undefined : schemaProblem(schema[name], below(name));
    if (problem !== undefined) return problem;
  }
  for (const name of MANY) {
    const all = schema[name];
    if (all === undefined) continue;
    if (!Array.isArray(all)) return `${below(name)} must be an array of schemas.`;
    const problem = firstProblem(all.map((each, index) => [`${below(name)}[${index}]`, each]));
    if (problem !== undefined) return problem;
  }
  for (const name of NAMED) {
    const all = schema[name];
    if (all === undefined) continue;
    if (!isObject(all)) return `${below(name)} must be an object of schemas.`;
    const problem = firstProblem(Object.entries(all).map(([key, each]) => [`${below(name)}.${key}`, each]));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function firstProblem(schemas: readonly (readonly [path: string, schema: unknown])[]): string | undefined {
  for (const [path, schema] of schemas) {
    const problem = schemaProblem(schema, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
