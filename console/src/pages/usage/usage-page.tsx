import { Card, Group, Select, SimpleGrid, Text } from "@mantine/core";
import { IconChartBar } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useDeferredValue, useState } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatCompact, formatCost, formatSeconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { MonthSpend } from "./month-spend.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { type Metric, useUsageLimits } from "./usage-limits.ts";
import { type UsageRow, type UsageSelection, usageQuery } from "./usage-query.ts";
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

const FIRST: UsageSelection = { range: "7d", interval: "1d", groupBy: "model", project: null, model: null };

export function UsagePage() {
  const [selection, setSelection] = useState(FIRST);
  const query = useQuery(usageQuery(selection));
  return (
    <Page title="Usage" description="Days and months begin at midnight UTC.">
      <UsageFilters selection={selection} onChange={setSelection} />
      <QueryView query={query}>
        {(rows) => (
          <>
            <Totals rows={rows} />
            {rows.length === 0 ? (
              <Card>
                <Empty icon={<IconChartBar />} title="Nothing was used in this time">
                  Usage appears here within a second of a request's end.
                </Empty>
              </Card>
            ) : (
              <>
                <ChartCard rows={rows} selection={selection} />
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

function ChartCard({ rows, selection }: { rows: UsageRow[]; selection: UsageSelection }) {
  const [metric, setMetric] = useState<Metric>("tokens");
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
          onChange={(next) => setMetric(next as Metric)}
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
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Stat label="Cost" value={formatCost(sum(({ cost }) => cost))} />
      <Stat
        label="Tokens"
        value={formatCompact(sum(({ tokens }) => tokens))}
        detail={`${formatCompact(sum(({ outputTokens }) => outputTokens))} generated`}
      />
      <Stat label="Requests" value={formatCompact(sum(({ requests }) => requests))} />
      <Stat
        label="Audio transcribed"
        value={formatSeconds(sum(({ audioSeconds }) => audioSeconds))}
        detail={`${formatCompact(sum(({ characters }) => characters))} characters spoken`}
      />
    </SimpleGrid>
  );
}
