const DAY = 86_400;
const WEEK_DAYS = 7;
/** Days before today from which the forecast takes the mean of each weekday, and how many it needs. */
const MAX_PAST_DAYS = 28;
const MIN_PAST_DAYS = 14;

interface MonthSoFar {
  spent: number;
  /** Spend of the month as it is expected. */
  projected: number;
  /** What the expectation comes from: the weekdays of the last weeks, or the pace of the month until now. */
  basis: "weekdays" | "pace";
  /** Every day of the month; `spent` since its first day, null in the future, and `forecast` from today on. */
  points: { day: number; spent: number | null; forecast: number | null }[];
}

interface DayCost {
  /** Start of the day, Unix seconds. */
  time: number;
  cost: number;
}

/** Sums the costs of a month's days and forecasts the others. Days and months are UTC, as limits are. */
export function monthSoFar(days: readonly DayCost[], now: Date): MonthSoFar {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const start = Date.UTC(year, month) / 1000;
  const length = (Date.UTC(year, month + 1) / 1000 - start) / DAY;
  const costs = new Map(days.map(({ time, cost }) => [Math.round((time - start) / DAY), cost]));
  const elapsed = (now.getTime() / 1000 - start) / DAY;
  const today = Math.floor(elapsed);
  const means = weekdayMeans(costs, today);
  const spentBefore = (day: number) => sum(Array.from({ length: day }, (_each, index) => costs.get(index) ?? 0));
  const spent = spentBefore(today + 1);
  const pace = elapsed === 0 ? 0 : spent / elapsed;
  const expected = (day: number) => {
    const mean = means?.[day % WEEK_DAYS] ?? pace;
    // The rest of today.
    if (day === today)
      return means === undefined ? pace * (today + 1 - elapsed) : Math.max(0, mean - (costs.get(day) ?? 0));
    return mean;
  };
  let forecast = spent;
  const points = Array.from({ length }, (_each, index) => {
    if (index < today) return { day: index + 1, spent: spentBefore(index + 1), forecast: null };
    forecast += expected(index);
    return { day: index + 1, spent: index === today ? spent : null, forecast };
  });
  return { spent, projected: forecast, basis: means === undefined ? "pace" : "weekdays", points };
}

/** Mean cost of each weekday, by the day of the month modulo 7; undefined with too few days since the first cost. */
function weekdayMeans(costs: ReadonlyMap<number, number>, today: number): number[] | undefined {
  const first = Math.min(...[...costs].filter(([, cost]) => cost > 0).map(([day]) => day));
  const from = Math.max(first, today - MAX_PAST_DAYS);
  if (today - from < MIN_PAST_DAYS) return undefined;
  const past = Array.from({ length: today - from }, (_each, index) => from + index);
  return Array.from({ length: WEEK_DAYS }, (_each, weekday) => {
    const same = past.filter((day) => (((day - weekday) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS === 0);
    return sum(same.map((day) => costs.get(day) ?? 0)) / same.length;
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
