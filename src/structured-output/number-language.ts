/** Which numbers may be written, as an automaton over the characters of plain decimals (no exponent). */

import { type Automaton, type Edge, trimmed } from "./automaton.ts";

export interface NumberBounds {
  integer: boolean;
  minimum: Bound | undefined;
  maximum: Bound | undefined;
  /** A positive integer that divides it; 1: any. */
  multipleOf: number;
}

export interface Bound {
  value: number;
  exclusive: boolean;
}

/** Integers beyond it cannot be told from their neighbours in JavaScript and most other readers of JSON. */
const LARGEST_INTEGER = Number.MAX_SAFE_INTEGER;

/** Decimals of so many digits are told apart by every reader, so that an exclusive bound cannot be reached by rounding. */
const DECIMAL_DIGITS = 15;

/** Undefined when no number fits, or none within the digits above. Throws a RangeError when more than `limit` states are needed. */
export function numberLanguage(bounds: NumberBounds, limit: number): Automaton | undefined {
  const low: Bound = bounds.minimum ?? { value: -Infinity, exclusive: false };
  const high: Bound = bounds.maximum ?? { value: Infinity, exclusive: false };
  const zero = { value: 0, exclusive: false };
  const above = low.value > 0 || (low.value === 0 && low.exclusive) ? low : zero;
  // No -0: it is another text for 0.
  const below = high.value < 0 ? negated(high) : { value: 0, exclusive: true };
  const magnitudes = new Magnitudes(bounds, limit);
  const positive = magnitudes.start(above, high);
  const negative = low.value < 0 ? magnitudes.start(below, negated(low)) : undefined;
  return magnitudes.explore(positive, negative);
}

/** Whether `value` is within the bounds; what `numberLanguage` leaves out of them may be. */
export function withinBounds(bounds: NumberBounds, value: number): boolean {
  const { minimum, maximum } = bounds;
  return (
    (!bounds.integer || Number.isInteger(value)) &&
    (bounds.multipleOf === 1 || value % bounds.multipleOf === 0) &&
    (minimum === undefined || (minimum.exclusive ? value > minimum.value : value >= minimum.value)) &&
    (maximum === undefined || (maximum.exclusive ? value < maximum.value : value <= maximum.value))
  );
}

/** Whether surely no number fits, not even one that is never written. `minimum` is not above `maximum`. */
export function hasNoNumber({ integer, minimum, maximum, multipleOf }: NumberBounds): boolean {
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

/** Where a reader stands: how what it has read compares with the same number of digits of both bounds. */
interface Reading {
  low: Digits;
  high: Digits | undefined;
  whole: number;
  fraction: number | undefined;
  toLow: Order;
  toHigh: Order;
  remainder: number;
  leadingZero: boolean;
}

class Magnitudes {
  readonly #bounds: NumberBounds;
  readonly #limit: number;

  constructor(bounds: NumberBounds, limit: number) {
    this.#bounds = bounds;
    this.#limit = limit;
  }

  start(low: Bound, high: Bound): Reading | undefined {
    const most = this.#bounds.integer ? LARGEST_INTEGER : Number(`1e${DECIMAL_DIGITS}`);
    if (low.value > most || high.value < 0) {
      return undefined;
    }
    const capped = high.value > LARGEST_INTEGER && this.#bounds.integer ? { value: most, exclusive: false } : high;
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

  explore(positive: Reading | undefined, negative: Reading | undefined): Automaton | undefined {
    const states: Array<{ accepting: boolean; edges: Edge[] }> = [];
    const numbered = new Map<string, number>();
    const open: Array<[Reading, sign: string]> = [];
    const numberOf = (reading: Reading, sign: string): number => {
      const { low: _low, high: _high, ...position } = reading;
      const key = sign + Object.values(position).join();
      let number = numbered.get(key);
      if (number === undefined) {
        number = states.length;
        if (number >= this.#limit) {
          throw new RangeError(`more than ${this.#limit} states`);
        }
        numbered.set(key, number);
        states.push({ accepting: this.#accepts(reading), edges: [] });
        open.push([reading, sign]);
      }
      return number;
    };
    states.push({ accepting: false, edges: [] });
    const link = (from: number, reading: Reading, sign: string) => {
      const byTarget = new Map<number, Array<[number, number]>>();
      for (const character of "0123456789.") {
        const next = this.#step(reading, character);
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
    return trimmed({ states });
  }

  #step(reading: Reading, character: string): Reading | undefined {
    if (character === ".") {
      if (this.#bounds.integer || reading.whole === 0 || reading.fraction !== undefined) {
        return undefined;
      }
      const [toLow, toHigh] = this.#compareWhole(reading);
      if (toLow < 0 || toHigh > 0) {
        return undefined;
      }
      // All digits together stay within the bound above wherever rounding could reach an excluded value.
      const counted = (reading.low.exclusive && toLow === 0) || reading.high?.exclusive;
      return { ...reading, whole: counted ? reading.whole : 1, fraction: 0, toLow, toHigh };
    }
    const { low, high } = reading;
    const digits = reading.whole + (reading.fraction ?? 0);
    if (reading.fraction === undefined) {
      if (reading.leadingZero || digits >= (this.#bounds.integer ? 16 : DECIMAL_DIGITS)) {
        return undefined;
      }
      return {
        ...reading,
        whole: digits + 1,
        leadingZero: digits === 0 && character === "0",
        toLow: compareNext(reading.toLow, character, low.whole[digits]),
        toHigh: compareNext(reading.toHigh, character, high?.whole[digits]),
        remainder: (reading.remainder * 10 + Number(character)) % this.#bounds.multipleOf,
      };
    }
    if (digits >= DECIMAL_DIGITS) {
      return undefined;
    }
    return {
      ...reading,
      fraction: reading.fraction + 1,
      toLow: compareNext(reading.toLow, character, low.fraction[reading.fraction] ?? "0"),
      toHigh: high ? compareNext(reading.toHigh, character, high.fraction[reading.fraction] ?? "0") : -1,
    };
  }

  #accepts(reading: Reading): boolean {
    if (reading.whole === 0 || reading.fraction === 0 || reading.remainder !== 0) {
      return false;
    }
    const { low, high } = reading;
    const read = reading.fraction ?? 0;
    const [toLow, toHigh] =
      reading.fraction === undefined ? this.#compareWhole(reading) : [reading.toLow, reading.toHigh];
    const fits = (order: Order, bound: Digits, wanted: Order) => {
      // What has been read so far is followed by zeros, the bound perhaps by more.
      const whole = order === 0 && /[1-9]/.test(bound.fraction.slice(read)) ? -1 : order;
      return whole === wanted || (whole === 0 && !bound.exclusive);
    };
    return fits(toLow, low, 1) && (high === undefined || fits(toHigh, high, -1));
  }

  /** How the digits before the point compare with all those of both bounds. */
  #compareWhole({ low, high, whole, toLow, toHigh }: Reading): [Order, Order] {
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

/** The shortest decimal that means the same number, without an exponent. */
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
