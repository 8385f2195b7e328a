/** Arguments that a model writes one by one with their names, such as `<parameter=city>…</parameter>`, instead of as JSON. */

/**
 * `before` name `afterName` value `after`, with `between` from one argument to the next. Texts are written as they are,
 * other values as JSON.
 */
export interface TaggedArguments {
  before: string;
  /** Undefined: texts are JSON, too. */
  text: ValueTags | undefined;
  other: ValueTags;
  between: string;
}

export interface ValueTags {
  afterName: string;
  after: string;
}

/** A text that ends with one character needs escapes, unless the character is a quotation mark: it is JSON then. */
const MIN_END_LENGTH = 3;

/** Example: two arguments, the first a text, the second a number. */
export interface RenderedArguments {
  /** From the end of the function's name on. */
  text: string;
  names: readonly [string, string];
  values: readonly [string, string];
  /** The same call with the first argument only. */
  withOne: string;
}

export interface TaggedCall {
  tags: TaggedArguments;
  /** Text between the function's name and the first argument. */
  afterName: string;
  /** Text after the last argument. */
  close: string;
  /** Text after the value of a text. */
  textEnd: string;
}

/** Returns undefined for another notation. */
export function detectTaggedArguments({ text, names, values, withOne }: RenderedArguments): TaggedCall | undefined {
  const pieces = split(text, [names[0], values[0], names[1], values[1]]);
  const one = split(withOne, [names[0], values[0]]);
  if (pieces === undefined || one === undefined) return undefined;
  const [head = "", afterText = "", middle = "", afterOther = "", otherTail = ""] = pieces;
  const [, , textTail = ""] = one;
  const before = commonSuffix(head, middle);
  const rest = middle.slice(0, middle.length - before.length);
  const after = commonPrefix(rest, textTail);
  const close = textTail.slice(after.length);
  const isRegular = one[0] === head && one[1] === afterText && close !== "" && otherTail.endsWith(close);
  const isQuoted = /^["']$/.test(after) && afterOther + after === afterText;
  if (!isRegular || (after.length < MIN_END_LENGTH && !isQuoted) || afterOther === "" || head.includes("{{"))
    return undefined;
  return {
    tags: {
      before,
      text: isQuoted ? undefined : { afterName: afterText, after },
      other: { afterName: afterOther, after: otherTail.slice(0, otherTail.length - close.length) },
      between: rest.slice(after.length),
    },
    afterName: head.slice(0, head.length - before.length),
    close,
    textEnd: after,
  };
}

/** Texts before, between and after the marks, which have to come in order. */
function split(text: string, marks: readonly string[]): string[] | undefined {
  const pieces: string[] = [];
  let from = 0;
  for (const mark of marks) {
    const at = text.indexOf(mark, from);
    if (at < 0) return undefined;
    pieces.push(text.slice(from, at));
    from = at + mark.length;
  }
  return [...pieces, text.slice(from)];
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}

function commonSuffix(a: string, b: string): string {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return a.slice(a.length - length);
}

/** One argument of a function. */
export interface TaggedParameter {
  name: string;
  schema: Readonly<Record<string, unknown>>;
  isRequired: boolean;
  /** Whether its value is written as text rather than as JSON. */
  isText: boolean;
}

/** Keywords of an object that restrict nothing else than each argument. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "title",
  "description",
  "$schema",
  "strict",
]);
const TEXT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "minLength",
  "maxLength",
  "title",
  "description",
  "default",
  "examples",
]);

/** Each character of a bound, each value and each argument that may be missing is a rule of the grammar. */
const MAX_LENGTH = 1000;
const MAX_VALUES = 300;
const MAX_PARAMETERS = 100;

/** Returns undefined for a schema whose arguments cannot be written one by one: they are one JSON object then. */
export function taggedParameters(
  parameters: unknown,
  { text }: Pick<TaggedArguments, "text">,
): TaggedParameter[] | undefined {
  if (parameters === undefined) return [];
  if (!isRecord(parameters) || JSON.stringify(parameters).includes('"$ref"')) return undefined;
  const { properties = {}, required = [], additionalProperties = false } = parameters;
  const isPlain = Object.keys(parameters).every((key) => PLAIN_KEYWORDS.has(key)) && parameters.type !== "array";
  if (!isPlain || additionalProperties !== false || !isRecord(properties) || !Array.isArray(required)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > MAX_PARAMETERS) return undefined;
  const fields = entries.filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]));
  if (fields.length < entries.length || required.some((name) => !Object.hasOwn(properties, name))) return undefined;
  return fields.map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
    isText: text !== undefined && isText(schema),
  }));
}

/** Bounds and values that are invalid or large are left to JSON, whose compiler refuses or enforces them. */
function isText(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, enum: values, minLength = 0, maxLength = minLength } = schema;
  const isLength = (length: unknown) => Number.isInteger(length) && Number(length) >= 0 && Number(length) <= MAX_LENGTH;
  const hasValues = (list: unknown[]) => list.length > 0 && list.every((value) => typeof value === "string");
  return (
    type === "string" &&
    Object.keys(schema).every((key) => TEXT_KEYWORDS.has(key)) &&
    isLength(minLength) &&
    isLength(maxLength) &&
    Number(minLength) <= Number(maxLength) &&
    (values === undefined || (Array.isArray(values) && values.length <= MAX_VALUES && hasValues(values)))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
