/** Checks the JSON that a person types before it is sent, and says where it is wrong. */

import { t } from "../../i18n/translate.ts";

export type Checked = { value: unknown; problem?: undefined } | { value?: undefined; problem: string };

/** Parses a text; an empty one has no value. */
export function checkJson(text: string): Checked {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    const [, position] = /position (\d+)/.exec(message) ?? [];
    if (position === undefined) return { problem: t("This is not valid JSON.") };
    const line = text.slice(0, Number(position)).split("\n").length;
    return { problem: t("Line {{line}}: this is not valid JSON.", { line }) };
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
  if (!isObject(parsed.value)) return { problem: t("A JSON Schema is an object.") };
  const problem = schemaProblem(parsed.value, "");
  return problem === undefined ? parsed : { problem };
}

const TOOL_NAME = /^[\w-]{1,64}$/;

/** Checks an array of tools of the type `function`. */
export function checkTools(text: string): Checked {
  const parsed = checkJson(text);
  if (parsed.problem !== undefined || parsed.value === undefined) return parsed;
  if (!Array.isArray(parsed.value)) return { problem: t("Tools are an array.") };
  for (const [index, tool] of parsed.value.entries()) {
    const problem = toolProblem(tool, `[${index}]`);
    if (problem !== undefined) return { problem };
  }
  return parsed;
}

function toolProblem(tool: unknown, path: string): string | undefined {
  if (!isObject(tool) || tool.type !== "function")
    return t("{{path}}: type must be {{type}}.", { path, type: '"function"' });
  const definition = tool.function;
  if (!isObject(definition)) return t("{{path}} must be an object.", { path: `${path}.function` });
  if (typeof definition.name !== "string" || !TOOL_NAME.test(definition.name)) {
    return t("{{path}} must be 1 to 64 letters, digits, - or _.", { path: `${path}.function.name` });
  }
  if (definition.parameters === undefined) return undefined;
  return schemaProblem(definition.parameters, `${path}.function.parameters`);
}

/** Checks extra fields of the request; `taken` have fields of their own. */
export function checkOther(text: string, taken: ReadonlySet<string>): Checked {
  const parsed = checkJson(text);
  if (parsed.problem !== undefined || parsed.value === undefined) return parsed;
  if (!isObject(parsed.value)) return { problem: t("Extra request fields must be a JSON object.") };
  const twice = Object.keys(parsed.value).find((name) => taken.has(name));
  return twice === undefined ? parsed : { problem: t("Set {{field}} above.", { field: twice }) };
}

function schemaProblem(schema: unknown, path: string): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) {
    return path === ""
      ? t("The JSON Schema must be an object, true or false.")
      : t("{{path}} must be a schema: an object, true or false.", { path });
  }
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const problem = valueProblem(schema, below);
  if (problem !== undefined) return problem;
  for (const [name, value] of Object.entries(schema)) {
    const problemBelow = keywordProblem(name, value, below(name));
    if (problemBelow !== undefined) return problemBelow;
  }
  return undefined;
}

function valueProblem(
  { type, required, enum: values }: Record<string, unknown>,
  below: (name: string) => string,
): string | undefined {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const unknown = types.find((each) => !TYPES.has(each));
  if (unknown !== undefined)
    return t("{{path}}: {{type}} is not a type of JSON Schema.", {
      path: below("type"),
      type: JSON.stringify(unknown),
    });
  if (required !== undefined && !isStrings(required))
    return t("{{path}} must be an array of names.", { path: below("required") });
  if (values !== undefined && !Array.isArray(values)) return t("{{path}} must be an array.", { path: below("enum") });
  return undefined;
}

/** Checks the schemas below a keyword. */
function keywordProblem(name: string, value: unknown, path: string): string | undefined {
  if (ONE.includes(name)) return schemaProblem(value, path);
  if (MANY.includes(name)) {
    if (!Array.isArray(value)) return t("{{path}} must be an array of schemas.", { path });
    return firstProblem(value.map((each, index) => [`${path}[${index}]`, each]));
  }
  if (!NAMED.includes(name)) return undefined;
  if (!isObject(value)) return t("{{path}} must be an object of schemas.", { path });
  return firstProblem(Object.entries(value).map(([key, each]) => [`${path}.${key}`, each]));
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
