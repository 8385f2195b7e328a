import { Card, Group, Select, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useDeferredValue } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatCompact, formatCost, formatSeconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { IconChartBar } from "../../icons.tsx";
import { GROUPS } from "./groups.ts";
import { MonthSpend } from "./month-spend.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { type Metric, useUsageLimits } from "./usage-limits.ts";
import { INTERVALS_OF, RANGES, type UsageRow, type UsageSelection, usageQuery } from "./usage-query.ts";
import { UsageTable } from "./usage-table.tsx";

const UsageChart = memo(lazy(async () => ({ default: (await import("./usage-chart.tsx")).UsageChart })));
const CHART_HEIGHT = 240;

const METRICS: { value: Metric; label: string }[] = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "requests", label: "Requests" },
  { value: "audioSeconds", label: "Seconds of audio" },
  { value: "characters", label: "Characters spoken" },
];

const FIRST = { range: "7d", interval: "", groupBy: "model", project: "", model: "", metric: "tokens" };

/** What the address selects; unknown words in it count as the default. */
function selectionOf({ range, interval, groupBy, project, model }: typeof FIRST): UsageSelection {
  const period = RANGES.find(({ value }) => value === range)?.value ?? "7d";
  return {
    range: period,
    interval: INTERVALS_OF[period].find((each) => each === interval) ?? INTERVALS_OF[period][0],
    groupBy: GROUPS.find(({ value }) => value === groupBy)?.value ?? "model",
    project: project || null,
    model: model || null,
  };
}

export function UsagePage() {
  const [address, setAddress] = useAddressState(FIRST);
  const selection = selectionOf(address);
  const query = useQuery(usageQuery(selection));
  return (
    <Page title="Usage" description="Days and months begin at midnight UTC.">
      <UsageFilters
        selection={selection}
        onChange={({ project, model, ...next }) => setAddress({ ...next, project: project ?? "", model: model ?? "" })}
      />
      <QueryView query={query}>
        {(rows) => (
          <>
            <Totals rows={rows} />
            {rows.length === 0 ? (
              <Card>
                <Empty icon={<IconChartBar />} title="No usage in this period">
                  Usage appears here within a second of a request's end.
                </Empty>
              </Card>
            ) : (
              <>
                <ChartCard
                  rows={rows}
                  selection={selection}
                  metric={METRICS.find(({ value }) => value === address.metric)?.value ?? "tokens"}
                  onMetric={(metric) => setAddress({ metric })}
                />
                <UsageTable rows={rows} selection={selection} />
              </>
            )}
            <MonthSpend project={selection.project} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

interface ChartCardProps {
  rows: UsageRow[];
  selection: UsageSelection;
  metric: Metric;
  onMetric: (metric: Metric) => void;
}

function ChartCard({ rows, selection, metric, onMetric }: ChartCardProps) {
  // The list closes before the chart is drawn, which takes longer than a frame.
  const drawn = useDeferredValue(metric);
  const { value, note } = useUsageLimits(drawn, selection, rows);
  return (
    <Card>
      <Group justify="space-between" mb="sm" gap="xs">
        <Select
          aria-label="Metric"
          w={170}
          data={METRICS}
          value={metric}
          allowDeselect={false}
          onChange={(next) => onMetric(next as Metric)}
        />
        {note !== undefined && (
          <Text size="xs" c="dimmed" role="note">
            {note}
          </Text>
        )}
      </Group>
      <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
        <UsageChart rows={rows} metric={drawn} selection={selection} limit={value} height={CHART_HEIGHT} />
      </Suspense>
    </Card>
  );
}

function Totals({ rows }: { rows: UsageRow[] }) {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const isPriced = rows.length === 0 || rows.some(({ cost, isUnpriced }) => cost > 0 || !isUnpriced);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Stat
        label="Cost"
        value={isPriced ? formatCost(sum(({ cost }) => cost)) : "No price"}
        detail={rows.some(({ isUnpriced }) => isUnpriced) ? "Some models have no price" : undefined}
      />
      <Stat
        label="Tokens"
        value={formatCompact(sum(({ tokens }) => tokens))}
        detail={`${formatCompact(sum(({ outputTokens }) => outputTokens))} generated`}
      />
      <Stat
        label="Answered requests"
        value={formatCompact(sum(({ requests }) => requests))}
        detail="Refused ones are on the page Requests"
      />
      <Stat
        label="Audio transcribed"
        value={formatSeconds(sum(({ audioSeconds }) => audioSeconds))}
        detail={`${formatCompact(sum(({ characters }) => characters))} characters spoken`}
      />
    </SimpleGrid>
  );
}
