const DAY = 86_400;

interface MonthSoFar {
  spent: number;
  /** Spend of the month at the pace until now. */
  projected: number;
  /** Every day of the month; `spent` since its first day, null in the future. */
  points: { day: number; spent: number | null }[];
}

/** Sums the costs of a month's days. Days and months are UTC, as limits are. */
export function monthSoFar(days: readonly { time: number; cost: number }[], now: Date): MonthSoFar {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const start = Date.UTC(year, month) / 1000;
  const length = (Date.UTC(year, month + 1) / 1000 - start) / DAY;
  const costs = new Map(days.map(({ time, cost }) => [(time - start) / DAY, cost]));
  const elapsed = (now.getTime() / 1000 - start) / DAY;
  let spent = 0;
  const points = Array.from({ length }, (_each, index) => {
    if (index > elapsed) return { day: index + 1, spent: null };
    spent += costs.get(index) ?? 0;
    return { day: index + 1, spent };
  });
  return { spent, projected: elapsed === 0 ? spent : (spent * length) / elapsed, points };
}
