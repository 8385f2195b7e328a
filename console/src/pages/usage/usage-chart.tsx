import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import { formatCompact, formatCost, formatDate, formatTime } from "../../components/format.ts";
import { bucketsOf, type Range, type UsageRow } from "./usage-query.ts";

const COLORS = ["cyan.7", "indigo.5", "teal.5", "orange.5", "grape.5", "lime.6", "pink.5", "gray.5"];
/** Further groups are drawn together. */
const MAX_SERIES = COLORS.length - 1;

const WEEK = 7 * 86_400;

interface UsageChartProps {
  rows: UsageRow[];
  metric: "cost" | "tokens" | "requests" | "audioSeconds" | "characters";
  range: Range;
  height: number;
}

export function UsageChart({ rows, metric, range, height }: UsageChartProps) {
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(row.group, (totals.get(row.group) ?? 0) + row[metric]);
  const names = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const shown = names.slice(0, MAX_SERIES);
  const label = (time: number) => (range === "24h" ? formatTime(time) : formatDate(time));
  const byTime = new Map<number, Record<string, number | string>>();
  const starts = bucketsOf(range);
  // A bar for each day of a year would be a pixel wide, and slow.
  const barOf = (time: number) => (range === "365d" ? time - ((time - (starts[0] ?? 0)) % WEEK) : time);
  for (const time of starts) byTime.set(barOf(time), { time: label(barOf(time)) });
  for (const row of rows) {
    const time = barOf(row.time);
    const point = byTime.get(time) ?? { time: label(time) };
    const name = seriesOf(shown.includes(row.group) ? row.group : "Others");
    point[name] = Number(point[name] ?? 0) + row[metric];
    byTime.set(time, point);
  }
  const series = [...shown, ...(names.length > shown.length ? ["Others"] : [])];
  return (
    <BarChart
      h={height}
      data={[...byTime].sort(([a], [b]) => a - b).map(([, point]) => point)}
      dataKey="time"
      type="stacked"
      gridAxis="x"
      tickLine="none"
      withLegend
      valueFormatter={metric === "cost" ? formatCost : formatCompact}
      yAxisProps={{ width: 56 }}
      xAxisProps={{ minTickGap: 32 }}
      maxBarWidth={48}
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
