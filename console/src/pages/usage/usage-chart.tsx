import { OTHERS_COLOR, SERIES_COLORS, TimeChart } from "../../components/charts/time-chart.tsx";
import { formatCompact, formatCost } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { timeLabel } from "./time-label.ts";
import { highestBar, type Metric } from "./usage-limits.ts";
import { bucketsOf, type UsageRow, type UsageSelection } from "./usage-query.ts";

/** Further groups are drawn together. */
const MAX_SERIES = SERIES_COLORS.length;
/** A limit further above the bars would flatten them. */
const MAX_LIMIT_TIMES_BARS = 10;

const WEEK = 7 * 86_400;

interface UsageChartProps {
  rows: readonly UsageRow[];
  metric: Metric;
  selection: UsageSelection;
  limit: number | undefined;
  height: number;
}

export function UsageChart({ rows, metric, selection, limit, height }: UsageChartProps) {
  const others = t("Others");
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(row.group, (totals.get(row.group) ?? 0) + row[metric]);
  const used = [...totals].filter(([, total]) => total > 0);
  const names = used.sort(([, a], [, b]) => b - a).map(([name]) => name);
  const shown = names.slice(0, MAX_SERIES);
  const starts = bucketsOf(selection);
  // A bar for each day of a year would be a pixel wide.
  const barOf = (time: number) => (selection.range === "365d" ? time - ((time - (starts[0] ?? 0)) % WEEK) : time);
  const times = [...new Set([...starts, ...rows.map(({ time }) => time)].map(barOf))].sort((a, b) => a - b);
  const indexes = new Map(times.map((time, index) => [time, index]));
  const values = new Map<string, number[]>();
  for (const row of rows) {
    const name = shown.includes(row.group) ? row.group : others;
    const series = values.get(name) ?? times.map(() => 0);
    const index = indexes.get(barOf(row.time)) ?? 0;
    series[index] = (series[index] ?? 0) + row[metric];
    values.set(name, series);
  }
  const drawn = [...shown, ...(names.length > shown.length ? [others] : [])];
  const isNear = limit !== undefined && limit <= MAX_LIMIT_TIMES_BARS * highestBar(rows, metric);
  return (
    <TimeChart
      label={t("Usage over time")}
      kind="bars"
      height={height}
      labels={times.map((time) => timeLabel(time, selection))}
      format={metric === "cost" ? formatCost : formatCompact}
      limit={isNear ? limit : undefined}
      series={drawn.map((name, index) => ({
        name,
        color: SERIES_COLORS[index] ?? OTHERS_COLOR,
        values: values.get(name) ?? [],
      }))}
    />
  );
}
