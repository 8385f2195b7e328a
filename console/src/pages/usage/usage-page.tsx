import { Card, Group, Select, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, lazy, Suspense, useDeferredValue } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatCompact, formatCost, formatSeconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { memo } from "../../i18n/memo.ts";
import { type Message, msg, t, translateLabels } from "../../i18n/translate.ts";
import { IconChartBar } from "../../icons.tsx";
import { changeOf } from "./change-of.ts";
import { GROUPS } from "./groups.ts";
import { MonthSpend } from "./month-spend.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { type Metric, useUsageLimits } from "./usage-limits.ts";
import { INTERVALS_OF, RANGES, type UsageRow, type UsageSelection, usageQuery } from "./usage-query.ts";
import { UsageTable } from "./usage-table.tsx";

const LazyChart = lazy(async () => ({ default: (await import("./usage-chart.tsx")).UsageChart }));
const UsageChart = memo(function UsageChart(props: ComponentProps<typeof LazyChart>) {
  return <LazyChart {...props} />;
});
const CHART_HEIGHT = 240;

const METRICS: { value: Metric; label: Message }[] = [
  { value: "cost", label: msg("Cost") },
  { value: "tokens", label: msg("Tokens") },
  { value: "requests", label: msg("Requests") },
  { value: "audioSeconds", label: msg("Seconds of audio") },
  { value: "characters", label: msg("Characters spoken") },
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
  // A request can have several tags, whose sums overlap.
  const summed: UsageSelection = selection.groupBy === "tag" ? { ...selection, groupBy: "time" } : selection;
  const totals = useQuery(usageQuery(summed));
  // A year before the year would be 70 requests more.
  const isCompared = selection.range !== "365d";
  const before = useQuery({ ...usageQuery({ ...summed, isPrevious: true }), enabled: isCompared });
  const previous = useQuery({ ...usageQuery({ ...selection, isPrevious: true }), enabled: isCompared });
  return (
    <Page title={t("Usage")} description={t("Days and months begin at midnight UTC.")}>
      <UsageFilters
        selection={selection}
        onChange={({ project, model, ...next }) => setAddress({ ...next, project: project ?? "", model: model ?? "" })}
      />
      <QueryView query={query} loading="overview">
        {(rows) => (
          <>
            <Totals rows={totals.data ?? rows} before={isCompared ? before.data : undefined} />
            {rows.length === 0 ? (
              <Card>
                <Empty icon={<IconChartBar />} title={t("No usage in this period")}>
                  {t("Usage appears here within a second of a request's end.")}
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
                <UsageTable rows={rows} selection={selection} previous={isCompared ? previous.data : undefined} />
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
          aria-label={t("Metric")}
          w={170}
          data={translateLabels(METRICS)}
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

interface TotalsProps {
  rows: readonly UsageRow[];
  /** Usage of the period before; undefined: it is not compared. */
  before: readonly UsageRow[] | undefined;
}

function Totals({ rows, before }: TotalsProps) {
  const sum = (of: (row: UsageRow) => number, all = rows) => all.reduce((total, row) => total + of(row), 0);
  const against = (of: (row: UsageRow) => number, detail?: string) => {
    const parts = [
      ...(before === undefined
        ? []
        : [t("{{change}} against the period before", { change: changeOf(sum(of), sum(of, before)) })]),
      ...(detail === undefined ? [] : [detail]),
    ];
    return parts.join(" · ");
  };
  const isPriced = rows.length === 0 || rows.some(({ cost, isUnpriced }) => cost > 0 || !isUnpriced);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Stat
        label={t("Cost")}
        value={isPriced ? formatCost(sum(({ cost }) => cost)) : t("No price")}
        detail={against(
          ({ cost }) => cost,
          rows.some(({ isUnpriced }) => isUnpriced) ? t("Some models have no price") : undefined,
        )}
      />
      <Stat
        label={t("Tokens")}
        value={formatCompact(sum(({ tokens }) => tokens))}
        detail={against(
          ({ tokens }) => tokens,
          t("{{tokens}} generated", { tokens: formatCompact(sum(({ outputTokens }) => outputTokens)) }),
        )}
      />
      <Stat
        label={t("Answered requests")}
        value={formatCompact(sum(({ requests }) => requests))}
        detail={against(({ requests }) => requests, t("Refused ones are on the page Requests"))}
      />
      <Stat
        label={t("Audio transcribed")}
        value={formatSeconds(sum(({ audioSeconds }) => audioSeconds))}
        detail={t("{{number}} characters spoken", { number: formatCompact(sum(({ characters }) => characters)) })}
      />
    </SimpleGrid>
  );
}
