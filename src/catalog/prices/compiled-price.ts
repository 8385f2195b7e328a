/** Prices as integers: parsed once, since a price is charged for every request. */

import { PRICE_UNITS, type Price, type PriceTier, type PriceUnit } from "../../contracts/price.ts";

/** Digits after the point of a rate. */
const DIGITS = 15;

/** Parts of a dollar, 10^15 of them, for each unit that the price has. */
export type Rates = Readonly<Partial<Record<PriceUnit, bigint>>>;

interface Factor {
  numerator: bigint;
  denominator: bigint;
}

const ONE: Factor = { numerator: 1n, denominator: 1n };

interface Tier {
  above: number;
  serviceTier: string | undefined;
  rates: Rates;
}

const COMPILED = new WeakMap<Price, Compiled | "none">();

/** Undefined when the price has no units. The price must not change afterwards. */
export function compile(price: Price): Compiled | undefined {
  let compiled = COMPILED.get(price);
  if (compiled === undefined) {
    const isPriced = PRICE_UNITS.some((unit) => price[unit] !== undefined) || price.tool_calls !== undefined;
    compiled = isPriced || (price.tiers?.length ?? 0) > 0 ? new Compiled(price) : "none";
    COMPILED.set(price, compiled);
  }
  return compiled === "none" ? undefined : compiled;
}

export class Compiled {
  readonly factor: Factor;
  readonly toolCalls: ReadonlyMap<string, bigint>;
  /** Whether every rate is 0. */
  readonly isFree: boolean;
  readonly #base: Rates;
  readonly #tiers: readonly Tier[];
  /** Rates by the places of the tiers that hold. */
  readonly #merged = new Map<string, Rates>();

  constructor(price: Price) {
    this.factor = price.exchange_rate === undefined ? ONE : toFactor(price.exchange_rate);
    this.toolCalls = new Map(Object.entries(price.tool_calls ?? {}).map(([tool, rate]) => [tool, toRate(rate)]));
    this.#base = toRates(price);
    this.#tiers = (price.tiers ?? []).map((tier) => ({
      above: tier.above_prompt_tokens ?? -1,
      serviceTier: tier.service_tier,
      rates: toRates(tier),
    }));
    const rates = [this.#base, ...this.#tiers.map((tier) => tier.rates)].flatMap((each) => Object.values(each));
    this.isFree = [...rates, ...this.toolCalls.values()].every((rate) => rate === 0n);
  }

  /** Rates of a request with a prompt of this length, in this tier; undefined: the standard one. */
  ratesFor(promptTokens: number, serviceTier: string | undefined): Rates {
    if (this.#tiers.length === 0) return this.#base;
    const places = [...this.#tiers.keys()].filter((place) => {
      const { above, serviceTier: required } = this.#tiers[place] as Tier;
      return promptTokens > above && (required === undefined || required === serviceTier);
    });
    const key = places.join();
    let rates = this.#merged.get(key);
    if (rates === undefined) {
      rates = Object.assign({}, this.#base, ...places.map((place) => this.#tiers[place]?.rates)) as Rates;
      this.#merged.set(key, rates);
    }
    return rates;
  }

  /** All rates that a request with a prompt of at most this length may have. */
  ratesUpTo(promptTokens: number): Rates[] {
    const lengths = new Set([
      0,
      ...this.#tiers.map(({ above }) => above + 1).filter((length) => length <= promptTokens),
    ]);
    const serviceTiers = new Set([undefined, ...this.#tiers.map(({ serviceTier }) => serviceTier)]);
    return [...lengths].flatMap((length) => [...serviceTiers].map((tier) => this.ratesFor(length, tier)));
  }
}

function toRates(units: PriceTier): Rates {
  const rates: Partial<Record<PriceUnit, bigint>> = {};
  for (const unit of PRICE_UNITS) {
    const amount = units[unit];
    if (amount !== undefined) rates[unit] = toRate(amount);
  }
  return rates;
}

function toRate(amount: string): bigint {
  const [integer = "0", fraction = ""] = amount.split(".");
  return BigInt(integer + fraction.padEnd(DIGITS, "0"));
}

/** Parses a decimal without an exponent. */
export function toFactor(decimal: string): Factor {
  const [integer = "0", fraction = ""] = decimal.split(".");
  return { numerator: BigInt(integer + fraction), denominator: 10n ** BigInt(fraction.length) };
}
