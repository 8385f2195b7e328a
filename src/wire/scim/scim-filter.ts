/** Filters of SCIM (RFC 7644, section 3.4.2.2): parses them and evaluates them on resources. */

import { scimFault } from "./scim-error.ts";

const COMPARISONS = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
type Comparison = (typeof COMPARISONS)[number];
type Value = string | number | boolean | null;

/** Attribute with the schema that the path names before it, if any. */
interface AttributePath {
  schema: string | undefined;
  /** In lower case. */
  names: readonly string[];
}

export type Filter =
  | { op: "and" | "or"; left: Filter; right: Filter }
  | { op: "not"; filter: Filter }
  | { op: "has"; path: AttributePath; filter: Filter }
  | { op: "pr"; path: AttributePath }
  | { op: Comparison; path: AttributePath; value: Value };

const MAX_LENGTH = 4_000;
const MAX_DEPTH = 20;
/** A string, a parenthesis or bracket, or a word: an attribute, operator, number or constant. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[()[\]]|[^\s()[\]"]+)/y;
/** Attributes whose values are compared exactly. */
const CASE_EXACT: ReadonlySet<string> = new Set(["id", "externalid", "$ref", "version"]);

/** Throws a Fault `invalidFilter`. */
export function parseFilter(text: string): Filter {
  if (text.length > MAX_LENGTH) {
    throw scimFault("invalidFilter", `The filter has ${text.length} characters; the maximum is ${MAX_LENGTH}.`);
  }
  const parser = new Parser(tokensOf(text));
  const filter = parser.disjunction(0);
  parser.expectEnd();
  return filter;
}

/** Reads `urn:…:attribute.sub` or `attribute.sub`. */
function parseAttributePath(text: string): AttributePath {
  const end = /^urn:/i.test(text) ? text.lastIndexOf(":") : -1;
  const schema = end === -1 ? undefined : text.slice(0, end).toLowerCase();
  return {
    schema,
    names: text
      .slice(end + 1)
      .toLowerCase()
      .split("."),
  };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined)
      throw scimFault("invalidFilter", `The filter cannot be read from character ${from + 1} on.`);
    tokens.push(token);
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  disjunction(depth: number): Filter {
    let left = this.#conjunction(depth);
    while (this.#takeWord("or")) left = { op: "or", left, right: this.#conjunction(depth) };
    return left;
  }

  expectEnd(): void {
    const token = this.#tokens[this.#next];
    if (token !== undefined) throw scimFault("invalidFilter", `The filter has an unexpected ${quote(token)}.`);
  }

  #conjunction(depth: number): Filter {
    let left = this.#term(depth);
    while (this.#takeWord("and")) left = { op: "and", left, right: this.#term(depth) };
    return left;
  }

  #term(depth: number): Filter {
    if (depth > MAX_DEPTH) throw scimFault("invalidFilter", `The filter is nested more than ${MAX_DEPTH} levels deep.`);
    if (this.#takeWord("not")) {
      this.#expect("(");
      return { op: "not", filter: this.#group(depth, ")") };
    }
    if (this.#takeWord("(")) return this.#group(depth, ")");
    const path = parseAttributePath(this.#take("an attribute"));
    if (this.#takeWord("[")) return { op: "has", path, filter: this.#group(depth, "]") };
    const operator = this.#take("an operator").toLowerCase();
    if (operator === "pr") return { op: "pr", path };
    const comparison = COMPARISONS.find((each) => each === operator);
    if (comparison === undefined) {
      const operators = [...COMPARISONS, "pr"].join(", ");
      throw scimFault("invalidFilter", `The filter has ${quote(operator)} where an operator must be: ${operators}.`);
    }
    return { op: comparison, path, value: this.#value() };
  }

  #group(depth: number, end: string): Filter {
    const filter = this.disjunction(depth + 1);
    this.#expect(end);
    return filter;
  }

  #value(): Value {
    const token = this.#take("a value");
    try {
      // Some clients write constants as Python does.
      const value: unknown = JSON.parse(/^(true|false|null)$/i.test(token) ? token.toLowerCase() : token);
      if (value === null || typeof value !== "object") return value as Value;
    } catch {
      // Reported below.
    }
    throw scimFault("invalidFilter", `The filter has ${quote(token)} where a value must be, such as "text" or true.`);
  }

  #take(what: string): string {
    const token = this.#tokens[this.#next];
    this.#next += 1;
    if (token === undefined) throw scimFault("invalidFilter", `The filter ends where ${what} must be.`);
    return token;
  }

  #takeWord(word: string): boolean {
    if (this.#tokens[this.#next]?.toLowerCase() !== word) return false;
    this.#next += 1;
    return true;
  }

  #expect(word: string): void {
    if (!this.#takeWord(word)) throw scimFault("invalidFilter", `The filter lacks a ${quote(word)}.`);
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

type Resource = Readonly<Record<string, unknown>>;

/** Whether a resource, or a value of a multi-valued attribute, satisfies the filter. */
export function matches(filter: Filter, resource: Resource): boolean {
  switch (filter.op) {
    case "and":
      return matches(filter.left, resource) && matches(filter.right, resource);
    case "or":
      return matches(filter.left, resource) || matches(filter.right, resource);
    case "not":
      return !matches(filter.filter, resource);
    case "has":
      return valuesAt(resource, filter.path).some((value) => matches(filter.filter, toResource(value)));
    case "pr":
      return valuesAt(resource, filter.path).some((value) => value !== "" && !isEmptyObject(value));
    case "ne":
      return !matches({ ...filter, op: "eq" }, resource);
    default: {
      const isExact = CASE_EXACT.has(filter.path.names.at(-1) ?? "");
      const values = valuesAt(resource, filter.path).map(simpleValue);
      if (filter.value === null) return filter.op === "eq" && values.length === 0;
      const { op, value } = filter;
      return values.some((each) => compare(op, each, value, isExact));
    }
  }
}

/** Value of an attribute that the filter compares by equality and that every match must have. */
export function requiredValue(filter: Filter, names: readonly string[]): string | undefined {
  if (filter.op === "and") return requiredValue(filter.left, names) ?? requiredValue(filter.right, names);
  if (filter.op !== "eq" || typeof filter.value !== "string") return undefined;
  return filter.path.names.join(".") === names.join(".") ? filter.value : undefined;
}

/** Values at a path, each one of a multi-valued attribute. */
function valuesAt(resource: Resource, { schema, names }: AttributePath): unknown[] {
  const extension = schema === undefined ? undefined : property(resource, schema);
  // The schema of the core is not a property.
  let values: unknown[] = [extension ?? resource];
  for (const name of names) {
    values = values.flatMap((value) => property(toResource(value), name) ?? []);
  }
  return values.filter((value) => value !== null);
}

function property(resource: Resource, lowerName: string): unknown {
  const name = Object.keys(resource).find((key) => key.toLowerCase() === lowerName);
  return name === undefined ? undefined : resource[name];
}

function toResource(value: unknown): Resource {
  return typeof value === "object" && value !== null ? (value as Resource) : { value };
}

/** A complex value stands for its `value`. */
function simpleValue(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Resource).value : value;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function compare(op: Comparison, actual: unknown, expected: Exclude<Value, null>, isExact: boolean): boolean {
  if (typeof actual === "boolean" && typeof expected === "string") {
    return op === "eq" && String(actual) === expected.toLowerCase();
  }
  if (typeof actual !== typeof expected) return false;
  if (typeof actual !== "string" || typeof expected !== "string") return compareOrdered(op, actual, expected);
  const [left, right] = isExact ? [actual, expected] : [actual.toLowerCase(), expected.toLowerCase()];
  if (op === "co") return left.includes(right);
  if (op === "sw") return left.startsWith(right);
  if (op === "ew") return left.endsWith(right);
  const [leftTime, rightTime] = [timeOf(actual), timeOf(expected)];
  if (leftTime === undefined || rightTime === undefined) return compareOrdered(op, left, right);
  return compareOrdered(op, leftTime, rightTime);
}

function timeOf(text: string): number | undefined {
  return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : undefined;
}

function compareOrdered(op: Comparison, left: unknown, right: unknown): boolean {
  const [a, b] = [left as number, right as number];
  if (op === "eq") return a === b;
  if (op === "gt") return a > b;
  if (op === "ge") return a >= b;
  if (op === "lt") return a < b;
  return op === "le" && a <= b;
}
