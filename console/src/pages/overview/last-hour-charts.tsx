import { Card, SimpleGrid, Title } from "@mantine/core";
import { TimeChart } from "../../components/charts/time-chart.tsx";
import { formatCompact, formatMilliseconds, formatTimeOfDay } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { marksOf } from "./overview-marks.ts";
import type { Overview } from "./overview-query.ts";

const HEIGHT = 190;

/** Requests and times to the first token by minute, with marks for loads, restarts and retries. */
export function LastHourCharts({ overview }: { overview: Overview }) {
  const { minutes } = overview;
  const labels = minutes.map(({ start_time }) => formatTimeOfDay(start_time));
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
      <Card>
        <Title order={2} mb="xs">
          {t("Requests per minute")}
        </Title>
        <TimeChart
          label={t("Requests per minute")}
          kind="bars"
          height={HEIGHT}
          labels={labels}
          format={formatCompact}
          marks={marksOf(overview)}
          series={[
            {
              name: t("Succeeded"),
              color: "var(--chart-1)",
              values: minutes.map(({ requests, errors }) => requests - errors),
            },
            { name: t("Failed"), color: "var(--chart-bad)", values: minutes.map(({ errors }) => errors) },
          ]}
        />
      </Card>
      <Card>
        <Title order={2} mb="xs">
          {t("Time to first token")}
        </Title>
        <TimeChart
          label={t("Time to first token")}
          kind="lines"
          height={HEIGHT}
          labels={labels}
          format={formatMilliseconds}
          series={[
            { name: t("Half below"), color: "var(--chart-1)", values: minutes.map((each) => each.first_token_ms.p50) },
            { name: t("95 % below"), color: "var(--chart-2)", values: minutes.map((each) => each.first_token_ms.p95) },
          ]}
        />
      </Card>
    </SimpleGrid>
  );
}
