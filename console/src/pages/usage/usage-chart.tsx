import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import { formatCompact, formatCost } from "../../components/format.ts";
import { limitLine } from "./limit-line.ts";
import { timeLabel } from "./time-label.ts";
import { highestBar, type Metric } from "./usage-limits.ts";
import { bucketsOf, type UsageRow, type UsageSelection } from "./usage-query.ts";

const COLORS = ["pine.6", "indigo.5", "teal.5", "orange.5", "grape.5", "lime.6", "pink.5", "gray.5"];
/** Further groups are drawn together. */
const MAX_SERIES = COLORS.length - 1;
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
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(row.group, (totals.get(row.group) ?? 0) + row[metric]);
  const used = [...totals].filter(([, total]) => total > 0);
  const names = used.sort(([, a], [, b]) => b - a).map(([name]) => name);
  const shown = names.slice(0, MAX_SERIES);
  const byTime = new Map<number, Record<string, number | string>>();
  const starts = bucketsOf(selection);
  const label = (time: number) => timeLabel(time, selection);
  // A bar for each day of a year would be a pixel wide, and slow.
  const barOf = (time: number) => (selection.range === "365d" ? time - ((time - (starts[0] ?? 0)) % WEEK) : time);
  for (const time of starts) byTime.set(barOf(time), { time: label(barOf(time)) });
  for (const row of rows) {
    const time = barOf(row.time);
    const point = byTime.get(time) ?? { time: label(time) };
    const name = seriesOf(shown.includes(row.group) ? row.group : "Others");
    point[name] = Number(point[name] ?? 0) + row[metric];
    byTime.set(time, point);
  }
  const series = [...shown, ...(names.length > shown.length ? ["Others"] : [])];
  const isNear = limit !== undefined && limit <= MAX_LIMIT_TIMES_BARS * highestBar(rows, metric);
  return (
    <BarChart
      h={height}
      data={[...byTime].sort(([a], [b]) => a - b).map(([, point]) => point)}
      dataKey="time"
      type="stacked"
      gridAxis="x"
      tickLine="none"
      withLegend={series.length > 1}
      valueFormatter={metric === "cost" ? formatCost : formatCompact}
      yAxisProps={{ width: 56 }}
      xAxisProps={{ minTickGap: 32 }}
      maxBarWidth={48}
      referenceLines={isNear ? [limitLine(limit)] : []}
      // Each frame of an animation would draw all bars again.
      barProps={{ isAnimationActive: false }}
      series={series.map((name, index) => ({
        name: seriesOf(name),
        label: name,
        color: COLORS[index % COLORS.length] ?? "gray.5",
      }))}
    />
  );
}

/** A chart reads a dot in a key as a path. */
function seriesOf(group: string): string {
  return group.replaceAll(".", "·").replaceAll("[", "(").replaceAll("]", ")");
}
