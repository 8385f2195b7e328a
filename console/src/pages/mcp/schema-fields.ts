import { type Message, msg, t } from "../../i18n/translate.ts";

/** Fields of a form for the input of a tool, by its JSON Schema. */

interface Schema {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  maxLength?: number;
  format?: string;
}

type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "texts" | "json";
/** A text; texts of a list. Numbers and JSON are texts until they are sent. */
export type FieldValue = string | string[];
export type FieldValues = Readonly<Record<string, FieldValue>>;

export interface SchemaField {
  name: string;
  label: string;
  description: string;
  kind: FieldKind;
  isRequired: boolean;
  /** Values of a choice, by the text that stands for them. */
  options: ReadonlyMap<string, unknown>;
  initial: FieldValue;
}

const NONE: ReadonlyMap<string, unknown> = new Map();
const MAX_OPTIONS = 500;

/** Returns the fields of an object; undefined for a schema whose input only JSON can express. */
export function toFields(schema: object): SchemaField[] | undefined {
  const { properties = {}, required = [], anyOf, oneOf } = schema as Schema;
  if (anyOf !== undefined || oneOf !== undefined) return undefined;
  return Object.entries(properties).map(([name, property]) => toField(name, property, required.includes(name)));
}

function toField(name: string, schema: Schema, isRequired: boolean): SchemaField {
  const inner = { ...schema, ...withoutNull(schema) };
  const options = optionsOf(inner);
  const kind = options.size > 0 ? "choice" : kindOf(inner);
  return {
    name,
    label: inner.title ?? name,
    description: inner.description ?? "",
    kind,
    isRequired,
    options,
    initial: initialOf(kind, inner.default),
  };
}

/** The schema of a value that may also be null. */
function withoutNull({ anyOf, oneOf, type }: Schema): Schema {
  const variants = (anyOf ?? oneOf ?? []).filter((each) => each.type !== "null");
  if (variants.length === 1) return variants[0] ?? {};
  const types = Array.isArray(type) ? type.filter((each) => each !== "null") : [];
  return types.length === 1 ? { type: types[0] } : {};
}

function optionsOf({ enum: values, const: only, oneOf, anyOf }: Schema): ReadonlyMap<string, unknown> {
  const constants = (oneOf ?? anyOf)?.map((each) => each.const);
  const all = values ?? (only === undefined ? constants : [only]);
  if (all === undefined || all.length > MAX_OPTIONS || all.some((each) => each === undefined)) return NONE;
  return new Map(all.map((each) => [typeof each === "string" ? each : JSON.stringify(each), each]));
}

function kindOf({ type, items }: Schema): FieldKind {
  if (type === "string") return "text";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  return type === "array" && items?.type === "string" && items.enum === undefined ? "texts" : "json";
}

function initialOf(kind: FieldKind, value: unknown): FieldValue {
  if (kind === "texts") return Array.isArray(value) ? value.map(String) : [];
  if (value === undefined) return "";
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value, undefined, 2);
}

export function initialValues(fields: readonly SchemaField[]): FieldValues {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

interface ToolInput {
  input: Record<string, unknown>;
  /** Why a field cannot be sent, by its name. */
  problems: Record<string, "missing" | "number" | "integer" | "json">;
}

/** Reads what the form has; a field that is empty is left out. */
export function toInput(fields: readonly SchemaField[], values: FieldValues): ToolInput {
  const result: ToolInput = { input: {}, problems: {} };
  for (const field of fields) {
    const value = values[field.name] ?? "";
    if (value.length === 0 && !field.isRequired) continue;
    const { input, problem } = readField(field, value);
    if (problem === undefined) result.input[field.name] = input;
    else result.problems[field.name] = problem;
  }
  return result;
}

function readField(
  field: SchemaField,
  value: FieldValues[string],
): { input?: unknown; problem?: ToolInput["problems"][string] } {
  const { kind } = field;
  if (value.length === 0) return kind === "texts" ? { input: [] } : { problem: "missing" };
  try {
    return { input: read(field, value) };
  } catch {
    return { problem: kind === "number" || kind === "integer" ? kind : "json" };
  }
}

/** Throws for a text that is not of the field's kind. */
function read({ kind, options }: SchemaField, value: FieldValue): unknown {
  if (typeof value !== "string" || kind === "text") return value;
  if (kind === "choice") return options.get(value);
  if (kind === "boolean") return value === "true";
  if (kind === "json") return JSON.parse(value);
  const number = Number(value.trim());
  if (!Number.isFinite(number) || (kind === "integer" && !Number.isInteger(number))) throw new Error(kind);
  return number;
}

const TYPES: Readonly<Record<Exclude<FieldKind, "json">, Message>> = {
  text: msg("text"),
  texts: msg("list of texts"),
  number: msg("number"),
  integer: msg("whole number"),
  boolean: msg("true or false"),
  choice: msg("choice"),
};

/** The type of a field in words. */
export function typeOf({ kind }: SchemaField): string {
  return kind === "json" ? "JSON" : t(TYPES[kind]);
}
