/** Fields that the readers of several usage dialects share. */

import { inNanoDollars } from "../../kernel/nano-dollars.ts";
import type { TokenUsage, UsageDetails } from "../../kernel/usage.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** No request has more tokens, and a usage record holds no more. */
const MAX_TOKENS = 2 ** 31 - 1;
/** A million dollars, so that sums stay below 2^53 nano-dollars. */
const MAX_DOLLARS = 1e6;
/** Names that providers give their tiers; anything else is not recorded. */
const TIER = /^[a-z][a-z0-9_-]{0,31}$/;
/** Tiers at the standard price. `auto` is a wish of the request, not a tier. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(["default", "standard", "auto"]);

/** Returns a number of tokens; undefined for anything else. */
export function toCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
  return isCount ? (value as number) : undefined;
}

/** Returns the object's fields; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Returns the tier that processed a request; undefined for the standard one. */
export function toServiceTier(value: unknown): string | undefined {
  if (typeof value !== "string" || STANDARD_TIERS.has(value)) return undefined;
  return TIER.test(value) ? value : undefined;
}

/** Converts a provider's cost in US dollars; undefined for anything that is not an amount. */
export function toNanoDollars(value: unknown): number | undefined {
  const dollars = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof dollars !== "number" || !(dollars >= 0 && dollars <= MAX_DOLLARS)) return undefined;
  return inNanoDollars(dollars);
}

/** Longest name of a function in OpenAI's API. */
const MAX_NAME = 64;
/** An answer calls a few functions; others would be a fault of the upstream. */
const MAX_NAMES = 50;

/** Counts calls of functions by name; undefined without any. */
export function countCalls(names: Iterable<unknown>): Record<string, number> | undefined {
  const calls = new Map<string, number>();
  for (const name of names) {
    if (typeof name !== "string" || name === "" || calls.size >= MAX_NAMES) continue;
    const key = name.slice(0, MAX_NAME).replaceAll("\0", "");
    calls.set(key, (calls.get(key) ?? 0) + 1);
  }
  return calls.size === 0 ? undefined : Object.fromEntries(calls);
}

/** Adds calls of functions to usage that does not contain them. */
export function withCalls(usage: TokenUsage | undefined, names: Iterable<unknown>): TokenUsage | undefined {
  const functionCalls = usage === undefined ? undefined : countCalls(names);
  if (usage === undefined || functionCalls === undefined) return usage;
  return { ...usage, details: { ...usage.details, functionCalls } };
}

/** Drops what is 0 or missing; undefined when nothing remains, as for most answers. */
export function detailsOf(details: UsageDetails): UsageDetails | undefined {
  let result: Record<string, unknown> | undefined;
  for (const name in details) {
    const value = details[name as keyof UsageDetails];
    // A cost of 0 is a statement, unlike a count of 0.
    if (value === undefined || (value === 0 && name !== "reportedCostNanoDollars")) continue;
    result ??= {};
    result[name] = value;
  }
  return result;
}
