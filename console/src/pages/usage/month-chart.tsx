import "@mantine/charts/styles.css";
import { AreaChart } from "@mantine/charts";
import { formatCost } from "../../components/format.ts";
import { limitLine } from "./limit-line.ts";

interface MonthChartProps {
  points: { day: number; spent: number | null; forecast: number | null }[];
  limit: number | undefined;
  height: number;
}

/** Spend since the first of a month, with a forecast, and the limit as a line. */
export function MonthChart({ points, limit, height }: MonthChartProps) {
  return (
    <AreaChart
      h={height}
      data={points}
      dataKey="day"
      gridAxis="x"
      tickLine="none"
      curveType="linear"
      withDots={false}
      connectNulls={false}
      valueFormatter={formatCost}
      yAxisProps={{ width: 56 }}
      xAxisProps={{ minTickGap: 32 }}
      areaProps={{ isAnimationActive: false }}
      series={[
        { name: "spent", label: "Spent", color: "pine.6" },
        { name: "forecast", label: "Forecast", color: "gray.6", strokeDasharray: "4 4" },
      ]}
      referenceLines={limit === undefined ? [] : [limitLine(limit)]}
    />
  );
}
