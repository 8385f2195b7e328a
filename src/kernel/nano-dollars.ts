/** Costs are whole billionths of a US dollar, whose sums are exact. */

const NANO_DOLLARS = 1e9;

export function inDollars(nanoDollars: number): number;
/** Null: without a price. */
export function inDollars(nanoDollars: number | null): number | null;
export function inDollars(nanoDollars: number | undefined): number | undefined;
export function inDollars(nanoDollars: number | null | undefined): number | null | undefined {
  return typeof nanoDollars === "number" ? nanoDollars / NANO_DOLLARS : nanoDollars;
}

export function inNanoDollars(dollars: number): number {
  return Math.round(dollars * NANO_DOLLARS);
}
