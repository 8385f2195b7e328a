import { TimeChart } from "../../components/charts/time-chart.tsx";
import { formatCost } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";

interface MonthChartProps {
  points: { day: number; spent: number | null; forecast: number | null }[];
  limit: number | undefined;
  height: number;
}

/** Spend since the first of a month, with a forecast, and the limit as a line. */
export function MonthChart({ points, limit, height }: MonthChartProps) {
  return (
    <TimeChart
      label={t("Spend of the month")}
      kind="area"
      height={height}
      labels={points.map(({ day }) => String(day))}
      format={formatCost}
      limit={limit}
      series={[
        { name: t("Spent"), color: "var(--chart-1)", values: points.map(({ spent }) => spent) },
        {
          name: t("Forecast"),
          color: "var(--chart-2)",
          values: points.map(({ forecast }) => forecast),
          isDashed: true,
        },
      ]}
    />
  );
}
