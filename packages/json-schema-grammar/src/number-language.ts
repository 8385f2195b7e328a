/** Compiles the bounds of a number to an automaton over decimal notation without exponents. */

import { type Automaton, type Edge, trim } from "./automaton.ts";

export interface NumberBounds {
  integer: boolean;
  minimum: Bound | undefined;
  maximum: Bound | undefined;
  /** A positive integer; 1 allows any number. */
  multipleOf: number;
}

export interface Bound {
  value: number;
  exclusive: boolean;
}

/** Larger integers lose precision in JavaScript and most other JSON parsers. */
const LARGEST_INTEGER = Number.MAX_SAFE_INTEGER;

/** Every parser distinguishes decimals of 15 digits, so rounding cannot reach an exclusive bound. */
const DECIMAL_DIGITS = 15;

/** Returns undefined when no number of at most 15 digits matches. Throws a RangeError when more than `limit` states are needed. */
export function numberLanguage(bounds: NumberBounds, limit: number): Automaton | undefined {
  const low: Bound = bounds.minimum ?? { value: -Infinity, exclusive: false };
  const high: Bound = bounds.maximum ?? { value: Infinity, exclusive: false };
  const zero = { value: 0, exclusive: false };
  const above = low.value > 0 || (low.value === 0 && low.exclusive) ? low : zero;
  // Excludes -0, a second spelling of 0.
  const below = high.value < 0 ? negated(high) : { value: 0, exclusive: true };
  const scanner = new MagnitudeScanner(bounds, limit);
  const positive = scanner.start(above, high);
  const negative = low.value < 0 ? scanner.start(below, negated(low)) : undefined;
  return scanner.explore(positive, negative);
}

/** Whether `value` is within the bounds, including numbers that `numberLanguage` never generates. */
export function isWithinBounds(bounds: NumberBounds, value: number): boolean {
  const { minimum, maximum } = bounds;
  return (
    (!bounds.integer || Number.isInteger(value)) &&
    (bounds.multipleOf === 1 || value % bounds.multipleOf === 0) &&
    (minimum === undefined || (minimum.exclusive ? value > minimum.value : value >= minimum.value)) &&
    (maximum === undefined || (maximum.exclusive ? value < maximum.value : value <= maximum.value))
  );
}

/** Proves that no number matches, including those never generated. Expects `minimum` at or below `maximum`. */
export function isProvablyEmptyRange({ integer, minimum, maximum, multipleOf }: NumberBounds): boolean {
  if (!integer || minimum === undefined || maximum === undefined) {
    return false;
  }
  const isExact = [minimum, maximum].every(({ value }) => Math.abs(value) <= LARGEST_INTEGER);
  const first = Math.ceil(minimum.value / multipleOf) * multipleOf;
  const least = minimum.exclusive && first === minimum.value ? first + multipleOf : first;
  return isExact && (least > maximum.value || (maximum.exclusive && least === maximum.value));
}

const negated = (bound: Bound): Bound => ({ value: -bound.value, exclusive: bound.exclusive });

type Order = -1 | 0 | 1;

interface Digits {
  whole: string;
  fraction: string;
  exclusive: boolean;
}

/** State of the scan: how the digits so far compare with the same number of digits of both bounds. */
interface ScanState {
  low: Digits;
  high: Digits | undefined;
  whole: number;
  fraction: number | undefined;
  toLow: Order;
  toHigh: Order;
  remainder: number;
  leadingZero: boolean;
}

class MagnitudeScanner {
  readonly #bounds: NumberBounds;
  readonly #limit: number;

  constructor(bounds: NumberBounds, limit: number) {
    this.#bounds = bounds;
    this.#limit = limit;
  }

  start(low: Bound, high: Bound): ScanState | undefined {
    const largest = this.#bounds.integer ? LARGEST_INTEGER : Number(`1e${DECIMAL_DIGITS}`);
    if (low.value > largest || high.value < 0) {
      return undefined;
    }
    const capped = high.value > LARGEST_INTEGER && this.#bounds.integer ? { value: largest, exclusive: false } : high;
    return {
      low: digitsOf(low),
      high: Number.isFinite(capped.value) ? digitsOf(capped) : undefined,
      whole: 0,
      fraction: undefined,
      toLow: 0,
      toHigh: 0,
      remainder: 0,
      leadingZero: false,
    };
  }

  explore(positive: ScanState | undefined, negative: ScanState | undefined): Automaton | undefined {
    const states: Array<{ accepting: boolean; edges: Edge[] }> = [];
    const numbered = new Map<string, number>();
    const open: Array<[ScanState, sign: string]> = [];
    const numberOf = (state: ScanState, sign: string): number => {
      const { low: _low, high: _high, ...position } = state;
      const key = sign + Object.values(position).join();
      let number = numbered.get(key);
      if (number === undefined) {
        number = states.length;
        if (number >= this.#limit) {
          throw new RangeError(`more than ${this.#limit} states`);
        }
        numbered.set(key, number);
        states.push({ accepting: this.#accepts(state), edges: [] });
        open.push([state, sign]);
      }
      return number;
    };
    states.push({ accepting: false, edges: [] });
    const link = (from: number, state: ScanState, sign: string) => {
      const byTarget = new Map<number, Array<[number, number]>>();
      for (const character of "0123456789.") {
        const next = this.#step(state, character);
        if (next) {
          const target = numberOf(next, sign);
          const code = character.charCodeAt(0);
          byTarget.set(target, [...(byTarget.get(target) ?? []), [code, code]]);
        }
      }
      for (const [to, ranges] of byTarget) {
        states[from]?.edges.push({ ranges, to });
      }
    };
    if (positive) {
      link(0, positive, "+");
    }
    if (negative) {
      const minus = "-".charCodeAt(0);
      states[0]?.edges.push({ ranges: [[minus, minus]], to: numberOf(negative, "-") });
    }
    for (let next = open.pop(); next; next = open.pop()) {
      link(numberOf(...next), ...next);
    }
    return trim({ states });
  }

  #step(state: ScanState, character: string): ScanState | undefined {
    if (character === ".") return this.#stepPoint(state);
    return state.fraction === undefined
      ? this.#stepWhole(state, character)
      : this.#stepFraction(state, state.fraction, character);
  }

  #stepPoint(state: ScanState): ScanState | undefined {
    if (this.#bounds.integer || state.whole === 0 || state.fraction !== undefined) {
      return undefined;
    }
    const [toLow, toHigh] = this.#compareWhole(state);
    if (toLow < 0 || toHigh > 0) {
      return undefined;
    }
    // Count the integer digits too wherever rounding could reach an excluded value.
    const counted = (state.low.exclusive && toLow === 0) || state.high?.exclusive;
    return { ...state, whole: counted ? state.whole : 1, fraction: 0, toLow, toHigh };
  }

  #stepWhole(state: ScanState, digit: string): ScanState | undefined {
    const { low, high, whole: digits } = state;
    if (state.leadingZero || digits >= (this.#bounds.integer ? 16 : DECIMAL_DIGITS)) {
      return undefined;
    }
    return {
      ...state,
      whole: digits + 1,
      leadingZero: digits === 0 && digit === "0",
      toLow: compareNext(state.toLow, digit, low.whole[digits]),
      toHigh: compareNext(state.toHigh, digit, high?.whole[digits]),
      remainder: (state.remainder * 10 + Number(digit)) % this.#bounds.multipleOf,
    };
  }

  #stepFraction(state: ScanState, fraction: number, digit: string): ScanState | undefined {
    const { low, high } = state;
    if (state.whole + fraction >= DECIMAL_DIGITS) {
      return undefined;
    }
    return {
      ...state,
      fraction: fraction + 1,
      toLow: compareNext(state.toLow, digit, low.fraction[fraction] ?? "0"),
      toHigh: high ? compareNext(state.toHigh, digit, high.fraction[fraction] ?? "0") : -1,
    };
  }

  #accepts(state: ScanState): boolean {
    if (state.whole === 0 || state.fraction === 0 || state.remainder !== 0) {
      return false;
    }
    const { low, high } = state;
    const digitsRead = state.fraction ?? 0;
    const [toLow, toHigh] = state.fraction === undefined ? this.#compareWhole(state) : [state.toLow, state.toHigh];
    const isWithin = (order: Order, bound: Digits, wanted: Order) => {
      // The number continues with zeros, the bound possibly with other digits.
      const whole = order === 0 && /[1-9]/.test(bound.fraction.slice(digitsRead)) ? -1 : order;
      return whole === wanted || (whole === 0 && !bound.exclusive);
    };
    return isWithin(toLow, low, 1) && (high === undefined || isWithin(toHigh, high, -1));
  }

  /** Compares the integer digits with those of both bounds. */
  #compareWhole({ low, high, whole, toLow, toHigh }: ScanState): [Order, Order] {
    return [compareLength(whole, low.whole) || toLow, high ? compareLength(whole, high.whole) || toHigh : -1];
  }
}

const compareLength = (length: number, digits: string): Order => Math.sign(length - digits.length) as Order;

function compareNext(before: Order, digit: string, ofBound: string | undefined): Order {
  if (before !== 0 || ofBound === undefined) {
    return before;
  }
  return digit < ofBound ? -1 : digit > ofBound ? 1 : 0;
}

/** The shortest decimal notation of the number, without an exponent. */
function digitsOf({ value, exclusive }: Bound): Digits {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const shift = Number(exponent);
  const all = whole + fraction;
  const point = whole.length + shift;
  const digits = {
    whole: point <= 0 ? "0" : all.slice(0, point).padEnd(point, "0"),
    fraction: point <= 0 ? "0".repeat(-point) + all : all.slice(point),
  };
  return { whole: digits.whole.replace(/^0+(?=\d)/, ""), fraction: digits.fraction, exclusive };
}
