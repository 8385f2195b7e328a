import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import { formatTimeOfDay } from "../../components/format.ts";
import type { Overview } from "./overview-query.ts";

interface LastHourChartProps {
  minutes: Overview["minutes"];
  height: number;
}

export function LastHourChart({ minutes, height }: LastHourChartProps) {
  const data = minutes.map((minute) => ({
    time: formatTimeOfDay(minute.start_time),
    Succeeded: minute.requests - minute.errors,
    Failed: minute.errors,
  }));
  return (
    <BarChart
      h={height}
      data={data}
      dataKey="time"
      type="stacked"
      gridAxis="x"
      tickLine="none"
      yAxisProps={{ allowDecimals: false, width: 34 }}
      xAxisProps={{ minTickGap: 48 }}
      series={[
        { name: "Succeeded", color: "pine.6" },
        { name: "Failed", color: "red.6" },
      ]}
      maxBarWidth={14}
      barProps={{ isAnimationActive: false }}
      barChartProps={{ accessibilityLayer: false, barCategoryGap: 1 }}
    />
  );
}
