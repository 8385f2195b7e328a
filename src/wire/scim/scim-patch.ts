/** PATCH of SCIM (RFC 7644, section 3.5.2), as Okta and Entra send it. */

import { isDeepStrictEqual } from "node:util";
import { type Attribute, attributesOf, findAttribute, type ResourceType } from "./attributes.ts";
import { type Attributes, checkCount, readObject, readResource, readValue, withOnePrimary } from "./read-resource.ts";
import { scimFault } from "./scim-error.ts";
import { type Filter, matches, parseFilter } from "./scim-filter.ts";

export interface PatchOperation {
  op: "add" | "replace" | "remove";
  path: string | undefined;
  value: unknown;
}

/** What a path names. `attribute` is undefined for an entire extension. */
export interface PatchTarget {
  extension: string | undefined;
  attribute: Attribute | undefined;
  filter: Filter | undefined;
  sub: Attribute | undefined;
}

const MAX_OPERATIONS = 1_000;
/** Values of all operations together, beside members: each is compared with those that the attribute has. */
const MAX_VALUES = 1_000;
/** Characters of all paths together: the filters in them are evaluated for each value. */
const MAX_PATHS = 100_000;
const PATH = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s;

/** Reads the operations of a PATCH; names of operations are compared regardless of case, which Entra relies on. */
export function readPatch(body: unknown): PatchOperation[] {
  const source = readObject(body, "the request body");
  const operations = source.Operations ?? source.operations;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimFault("invalidSyntax", "'Operations' must be a list with at least one operation.");
  }
  if (operations.length > MAX_OPERATIONS) {
    const message = `'Operations' has ${operations.length} entries; the maximum is ${MAX_OPERATIONS}. Send several requests.`;
    throw scimFault("invalidValue", message);
  }
  let pathCharacters = 0;
  return operations.map((each, index) => {
    const { op, path, value } = readObject(each, `'Operations[${index}]'`);
    const name = typeof op === "string" ? op.toLowerCase() : "";
    if (name !== "add" && name !== "replace" && name !== "remove") {
      throw scimFault("invalidSyntax", `'Operations[${index}].op' must be add, replace or remove.`);
    }
    const hasPath = path !== undefined && path !== null && path !== "";
    if (hasPath && typeof path !== "string") {
      throw scimFault("invalidPath", `'Operations[${index}].path' must be a string.`);
    }
    pathCharacters += hasPath ? (path as string).length : 0;
    if (pathCharacters > MAX_PATHS) {
      const message = `The paths of 'Operations' have more than ${MAX_PATHS} characters, the maximum. Send several requests.`;
      throw scimFault("invalidValue", message);
    }
    if (!hasPath && name === "remove") throw scimFault("noTarget", `'Operations[${index}].path' is missing.`);
    return { op: name, path: hasPath ? (path as string) : undefined, value };
  });
}

/** Finds what a path names; undefined for attributes that the schemas do not have. Throws a Fault `invalidPath`. */
export function findTarget(type: ResourceType, path: string): PatchTarget | undefined {
  const { extension, rest } = splitSchema(type, path);
  if (rest === undefined) return undefined;
  if (rest === "") return { extension, attribute: undefined, filter: undefined, sub: undefined };
  const [, name = "", filter, subName] = PATH.exec(rest) ?? [];
  if (name === "") throw scimFault("invalidPath", `The path ${JSON.stringify(path.slice(0, 200))} cannot be read.`);
  const attribute = findAttribute(attributesOf(type, extension), name);
  if (attribute === undefined) return undefined;
  if (filter !== undefined && !attribute.multiValued) {
    throw scimFault("invalidPath", `'${attribute.name}' has one value, which a filter cannot select.`);
  }
  const sub = subName === undefined ? undefined : findAttribute(attribute.subAttributes ?? [], subName);
  if (subName !== undefined && sub === undefined) return undefined;
  if ((sub ?? attribute).mutability === "readOnly") {
    throw scimFault("mutability", `'${path.slice(0, 200)}' cannot be changed.`);
  }
  return { extension, attribute, filter: filter === undefined ? undefined : parseFilter(filter), sub };
}

/** Splits the schema off a path. `rest` is empty for a schema alone and undefined for a schema of others. */
function splitSchema(type: ResourceType, path: string): { extension: string | undefined; rest: string | undefined } {
  if (!/^urn:/i.test(path)) return { extension: undefined, rest: path };
  for (const { id } of [type.schema, ...type.extensions]) {
    if (!path.toLowerCase().startsWith(id.toLowerCase())) continue;
    const rest = path.slice(id.length);
    if (rest !== "" && !rest.startsWith(":")) continue;
    return { extension: id === type.schema.id ? undefined : id, rest: rest.slice(1) };
  }
  return { extension: undefined, rest: undefined };
}

/** Returns the attributes after the operations. Throws a Fault, after which nothing has changed. */
export function applyPatch(
  type: ResourceType,
  attributes: Attributes,
  operations: readonly PatchOperation[],
): Attributes {
  const count = operations.reduce((sum, { value }) => sum + countValues(value), 0);
  if (count > MAX_VALUES) {
    const message = `'Operations' has ${count} values; the maximum is ${MAX_VALUES}. Send several requests.`;
    throw scimFault("invalidValue", message);
  }
  const result = structuredClone(attributes);
  for (const operation of operations) applyOperation(type, result, operation);
  return result;
}

/** Values of a list, or of the lists of several attributes. */
function countValues(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  const parts = typeof value === "object" && value !== null ? Object.values(value) : [];
  return parts.reduce((sum, each) => sum + (Array.isArray(each) ? each.length : 1), 1);
}

function applyOperation(type: ResourceType, resource: Attributes, { op, path, value }: PatchOperation): void {
  if (path === undefined) {
    for (const [key, each] of Object.entries(readObject(value, "'value'"))) {
      // Entra names attributes of attributes by a path here, too. What clients cannot change they may send back.
      if (!isReadOnly(type, key)) applyOperation(type, resource, { op, path: key, value: each });
    }
    return;
  }
  const target = findTarget(type, path);
  if (target === undefined) return;
  const { extension, attribute } = target;
  if (attribute === undefined) {
    applyToExtension(type, resource, { op, extension, value });
    return;
  }
  const container = extension === undefined ? resource : ((resource[extension] ?? {}) as Attributes);
  applyToAttribute(container, { ...target, attribute }, op, value);
  if (extension !== undefined) assign(resource, extension, container);
}

function isReadOnly(type: ResourceType, name: string): boolean {
  return findAttribute(attributesOf(type), name)?.mutability === "readOnly";
}

function applyToExtension(
  type: ResourceType,
  resource: Attributes,
  { op, extension, value }: { op: PatchOperation["op"]; extension: string | undefined; value: unknown },
): void {
  if (extension === undefined) {
    if (op !== "remove") applyOperation(type, resource, { op, path: undefined, value });
    return;
  }
  const read = op === "remove" ? {} : ((readResource(type, { [extension]: value })[extension] ?? {}) as Attributes);
  assign(resource, extension, op === "add" ? { ...(resource[extension] as Attributes), ...read } : read);
}

function applyToAttribute(
  container: Attributes,
  { attribute, filter, sub }: PatchTarget & { attribute: Attribute },
  op: PatchOperation["op"],
  value: unknown,
): void {
  const { name } = attribute;
  if (attribute.multiValued) {
    const values = patchValues(attribute, (container[name] ?? []) as Attributes[], { filter, sub }, op, value);
    checkCount(attribute, values);
    assign(container, name, values);
    return;
  }
  if (sub !== undefined) {
    const complex = (container[name] ?? {}) as Attributes;
    assign(complex, sub.name, op === "remove" ? undefined : readValue(sub, value, `${name}.${sub.name}`));
    assign(container, name, complex);
    return;
  }
  const read = op === "remove" ? undefined : readValue(attribute, value);
  const isMerged = attribute.type === "complex" && op !== "remove" && read !== undefined;
  assign(container, name, isMerged ? { ...(container[name] as Attributes), ...(read as Attributes) } : read);
}

function patchValues(
  attribute: Attribute,
  values: readonly Attributes[],
  { filter, sub }: Pick<PatchTarget, "filter" | "sub">,
  op: PatchOperation["op"],
  value: unknown,
): unknown[] {
  const isSelected = (each: Attributes) => filter === undefined || matches(filter, each);
  if (sub === undefined && filter === undefined) return patchList(attribute, values, op, value);
  if (op === "remove") {
    if (sub === undefined) return values.filter((each) => !isSelected(each));
    return values.flatMap((each) => {
      if (!isSelected(each)) return [each];
      const { [sub.name]: _removed, ...rest } = each;
      return "value" in rest ? [rest] : [];
    });
  }
  const change =
    sub === undefined
      ? ((readValue({ ...attribute, multiValued: false }, value) ?? {}) as Attributes)
      : { [sub.name]: readValue(sub, value, `${attribute.name}.${sub.name}`) };
  const hasMatch = values.some(isSelected);
  // Entra sets the address for work of a user who has none yet.
  const added = hasMatch ? [] : [{ ...selectedValues(filter), ...change }];
  const changed = values.map((each) => (isSelected(each) ? { ...each, ...change } : each));
  return withOnePrimary([...changed, ...added]);
}

/** Adds to, replaces or removes from all values of an attribute. */
function patchList(
  attribute: Attribute,
  values: readonly Attributes[],
  op: PatchOperation["op"],
  value: unknown,
): unknown[] {
  const isAbsent = value === undefined || value === null;
  if (op === "remove" && isAbsent) return [];
  const read = (readValue(attribute, value) ?? []) as Attributes[];
  if (op === "replace") return read;
  if (op === "remove") return values.filter((each) => !read.some((removed) => removed.value === each.value));
  const others = values.filter((each) => !read.some((added) => isDeepStrictEqual(added, each)));
  return withOnePrimary([...others, ...read]);
}

/** Values that a filter such as `type eq "work"` requires, for a value that it creates. Throws a Fault for others. */
function selectedValues(filter: Filter | undefined): Attributes {
  if (filter === undefined) return {};
  if (filter.op === "and") return { ...selectedValues(filter.left), ...selectedValues(filter.right) };
  if (filter.op !== "eq") throw scimFault("noTarget", "The filter of the path selects no value.");
  return { [filter.path.names.join(".")]: filter.value };
}

/** Sets an attribute; removes it for a value without content. */
function assign(container: Attributes, name: string, value: unknown): void {
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  if (value === undefined || isEmpty) delete container[name];
  else container[name] = value;
}
