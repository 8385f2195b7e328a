/** Checks what a SCIM client sends against the schemas, and leaves out what they do not have. */

import { type Attribute, attributesOf, findAttribute, type ResourceType } from "./attributes.ts";
import { scimFault } from "./scim-error.ts";

/** Attributes with their names as in the schema; those of an extension below its schema. */
export type Attributes = Record<string, unknown>;

const MAX_LENGTH = 1_024;
const MAX_VALUES = 100;
const MAX_MEMBERS = 50_000;

/** Reads a resource. Throws a Fault naming the first attribute that is not valid. */
export function readResource(type: ResourceType, body: unknown): Attributes {
  const source = readObject(body, "the resource");
  const attributes = readAttributes(attributesOf(type), source, "");
  for (const extension of type.extensions) {
    const name = Object.keys(source).find((key) => key.toLowerCase() === extension.id.toLowerCase());
    if (name === undefined || source[name] === null) continue;
    const values = readAttributes(extension.attributes, readObject(source[name], extension.name), `${extension.name}.`);
    if (Object.keys(values).length > 0) attributes[extension.id] = values;
  }
  return attributes;
}

/** Reads a value of an attribute; undefined for one that unassigns it: null, an empty text or list. */
export function readValue(attribute: Attribute, value: unknown, path = attribute.name): unknown {
  if (!attribute.multiValued) return readSingle(attribute, value, path);
  const list = Array.isArray(value) ? value : [value];
  checkCount(attribute, list, path);
  const values = list.flatMap((each, index) => readSingle(attribute, each, `${path}[${index}]`) ?? []);
  return values.length === 0 ? undefined : withOnePrimary(values);
}

/** Throws a Fault for more values than an attribute may have. */
export function checkCount({ name }: Attribute, values: readonly unknown[], path = name): void {
  const maximum = name === "members" ? MAX_MEMBERS : MAX_VALUES;
  if (values.length <= maximum) return;
  throw scimFault("invalidValue", `'${path}' has ${values.length} values; the maximum is ${maximum}.`);
}

export function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw scimFault(
    "invalidSyntax",
    `${what} must be a JSON object.`.replace(/^./, (first) => first.toUpperCase()),
  );
}

/** Keeps the last of several primary values: a client that adds one means that one. */
export function withOnePrimary(values: unknown[]): unknown[] {
  const isPrimary = (value: unknown) => (value as { primary?: unknown }).primary === true;
  const last = values.findLastIndex(isPrimary);
  return values.map((value, index) =>
    isPrimary(value) && index !== last ? { ...(value as object), primary: false } : value,
  );
}

function readAttributes(
  attributes: readonly Attribute[],
  source: Readonly<Record<string, unknown>>,
  prefix: string,
): Attributes {
  const result: Attributes = {};
  for (const [key, value] of Object.entries(source)) {
    const attribute = findAttribute(attributes, key);
    if (attribute === undefined || attribute.mutability === "readOnly") continue;
    const read = readValue(attribute, value, `${prefix}${attribute.name}`);
    if (read !== undefined) result[attribute.name] = read;
  }
  return result;
}

function readSingle(attribute: Attribute, value: unknown, path: string): unknown {
  if (value === null || value === undefined || value === "") return undefined;
  switch (attribute.type) {
    case "boolean":
      return readBoolean(value, path);
    case "complex": {
      // A bare text stands for the value of a multi-valued attribute.
      const source = typeof value === "string" && attribute.multiValued ? { value } : readObject(value, `'${path}'`);
      const read = readAttributes(attribute.subAttributes ?? [], source, `${path}.`);
      return Object.keys(read).length === 0 ? undefined : read;
    }
    default:
      return readText(value, path);
  }
}

function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === "boolean") return value;
  // Entra sends "True" and "False".
  const text = typeof value === "string" ? value.toLowerCase() : undefined;
  if (text === "true" || text === "false") return text === "true";
  throw scimFault("invalidValue", `'${path}' must be true or false.`);
}

function readText(value: unknown, path: string): string {
  if (typeof value !== "string") throw scimFault("invalidValue", `'${path}' must be a string.`);
  if (value.length > MAX_LENGTH) {
    throw scimFault("invalidValue", `'${path}' has ${value.length} characters; the maximum is ${MAX_LENGTH}.`);
  }
  // No database stores NUL and halves of characters.
  if (/[\p{Cc}\p{Cs}]/u.test(value)) throw scimFault("invalidValue", `'${path}' must not have control characters.`);
  return value;
}
