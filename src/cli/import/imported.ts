/** Result of an import. */

export interface Imported {
  /** Content of parlance.yaml. */
  config: Record<string, unknown>;
  notes: readonly Note[];
}

/** What was not carried over, or has to be checked. */
export interface Note {
  /** Place in the source. */
  path: string;
  reason: string;
}

export type Fields = Readonly<Record<string, unknown>>;

export function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Number above 0, also as text. */
export function asPositive(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && number > 0 ? number : undefined;
}

/** Whole number of at least 0, also as text. */
export function asCount(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && number >= 0 ? Math.round(number) : undefined;
}

/** Drops undefined values and empty lists and mappings. */
export function compact(fields: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}
