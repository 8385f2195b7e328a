/** Fields of a request body that this service does not know: ignored, or refused where a name is misspelled. */

import { distance } from "fastest-levenshtein";
import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";

export type UnknownFieldsPolicy = "ignore" | "refuse";

/** A field that would change the answer's meaning and that nothing here honors. */
export interface UnsupportedField {
  /** Whether the value equals the behavior without the field. */
  isDefault?(value: unknown): boolean;
  /** Alternative that the error message suggests. */
  instead?: string;
}

export interface FieldRules {
  known: readonly string[];
  unsupported: Readonly<Record<string, UnsupportedField>>;
  policy: UnknownFieldsPolicy;
}

/** Fields of other engines and gateways whose names are near those of fields with another meaning. */
const NOT_MISSPELLED: ReadonlySet<string> = new Set(["top_a", "top_n", "models"]);

/** Names that are compared with the known ones: a body with more was not written by hand. */
export const MAX_COMPARED_NAMES = 100;

/** Returns the Fault for the first field of `body` that must not be ignored; undefined without one. */
export function firstRefusedField(body: Readonly<Record<string, unknown>>, rules: FieldRules): Fault | undefined {
  for (const [index, field] of unknownFieldsOf(body, rules.known).entries()) {
    const fault = refusedField(field, body, rules, index < MAX_COMPARED_NAMES);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the names of the fields of `body` that are not `known`; null means "not set". */
export function unknownFieldsOf(body: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.keys(body).filter((field) => {
    const value = body[field];
    return value !== undefined && value !== null && !known.includes(field);
  });
}

/** Returns the paths of members that are not `known`, each once. Values without effect are null, false and empty lists. */
export function unknownMembers(values: readonly object[], path: string, known: readonly string[]): string[] {
  const names = values.flatMap((value) =>
    Object.entries(value).flatMap(([name, member]) => (known.includes(name) || isUnset(member) ? [] : [name])),
  );
  return [...new Set(names)].map((name) => `${path}.${name}`);
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/**
 * Checks like `unknownFieldsOf`, for bodies without a specific check. Throws a Fault for the first field that must not
 * be ignored.
 */
export function checkUnknownFields(body: unknown, rules: FieldRules): string[] {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return [];
  const fields = body as Record<string, unknown>;
  const fault = firstRefusedField(fields, rules);
  if (fault !== undefined) throw fault;
  return unknownFieldsOf(fields, rules.known);
}

function refusedField(
  field: string,
  body: Readonly<Record<string, unknown>>,
  { known, unsupported, policy }: FieldRules,
  isCompared: boolean,
): Fault | undefined {
  const rule = Object.hasOwn(unsupported, field) ? unsupported[field] : undefined;
  if (rule !== undefined) {
    if (rule.isDefault?.(body[field]) === true) return undefined;
    const instead = rule.instead === undefined ? "" : `: ${rule.instead}`;
    return unsupportedValue(`This model does not support '${field}'${instead}.`, field);
  }
  const name = shorten(field);
  const meant = isCompared ? misspelled(field, known) : undefined;
  if (meant !== undefined && !Object.hasOwn(body, meant)) {
    return invalidRequest(`Unknown parameter: '${name}'. Did you mean '${meant}'?`, name, "unknown_parameter");
  }
  return policy === "refuse" ? invalidRequest(`Unknown parameter: '${name}'.`, name, "unknown_parameter") : undefined;
}

/** Finds a known field whose name differs by case, underscores, or one or two letters. */
function misspelled(field: string, known: readonly string[]): string | undefined {
  if (field.length > 64 || NOT_MISSPELLED.has(field)) return undefined;
  return known.find((each) => letters(each) === letters(field)) ?? known.find((each) => isMisspelling(field, each));
}

function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Whether the two names differ by a few letters or by the order of letters. */
export function isMisspelling(field: string, known: string): boolean {
  const shorter = Math.min(field.length, known.length);
  if (shorter < 5) return false;
  if (sorted(field) === sorted(known)) return true;
  return distance(field, known) <= (shorter < 8 ? 1 : 2);
}

/** Sorts the letters of a name, so two swapped letters count as no edit. */
function sorted(name: string): string {
  return [...name].sort().join("");
}

function shorten(name: string): string {
  return name.length <= 100 ? name : `${name.slice(0, 100)}…`;
}
