/** Windows of time in which spending is counted. They begin and end with UTC days. */

import { DAY_MS, DAY_SECONDS } from "../../kernel/durations.ts";

export const SPEND_PERIODS = ["day", "week", "month", "total"] as const;

/** `total`: one window without an end. */
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** Its start and end (exclusive) in epoch milliseconds. */
export interface SpendWindow {
  from: number;
  until: number;
}

/** End of windows without one: the last UTC day that `Date` represents. */
export const NO_END = 8_640_000_000_000_000;
/** 1970-01-01 was a Thursday; weeks begin on Monday, as in ISO 8601. */
const DAYS_TO_FIRST_MONDAY = 4;
const WEEK_DAYS = 7;

/** Returns the window of a period that contains `time`. `startsAt`: first day of the period `total`. */
export function spendWindow(period: SpendPeriod, time: number, startsAt = 0): SpendWindow {
  const day = startOfDay(time);
  switch (period) {
    case "day":
      return { from: day, until: day + DAY_MS };
    case "week": {
      const from = day - modulo(day / DAY_MS - DAYS_TO_FIRST_MONDAY, WEEK_DAYS) * DAY_MS;
      return { from, until: from + WEEK_DAYS * DAY_MS };
    }
    case "month": {
      const date = new Date(time);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      return { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
    }
    case "total":
      return { from: startOfDay(startsAt), until: NO_END };
  }
}

/** Seconds for which counters keep what was spent: longer than the window, so that nothing expires before its end. */
export const COUNTER_SECONDS: Readonly<Record<SpendPeriod, number>> = {
  day: 2 * DAY_SECONDS,
  week: 8 * DAY_SECONDS,
  month: 32 * DAY_SECONDS,
  total: 36_500 * DAY_SECONDS,
};

export function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
