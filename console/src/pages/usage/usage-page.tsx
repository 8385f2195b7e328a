import { Button, Card, Group, Select, SimpleGrid, Table, Text } from "@mantine/core";
import { IconChartBar, IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useDeferredValue, useState } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatCompact, formatCost, formatNumber, formatSeconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { downloadCsv } from "./download-csv.ts";
import { GROUPS, type Group as GroupBy, RANGES, type Range, type UsageRow, usageQuery } from "./usage-query.ts";

const UsageChart = memo(lazy(async () => ({ default: (await import("./usage-chart.tsx")).UsageChart })));
const CHART_HEIGHT = 240;

const METRICS = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "requests", label: "Requests" },
  { value: "audioSeconds", label: "Seconds of audio" },
  { value: "characters", label: "Characters spoken" },
] as const;
type Metric = (typeof METRICS)[number]["value"];

export function UsagePage() {
  const [range, setRange] = useState<Range>("7d");
  const [groupBy, setGroupBy] = useState<GroupBy>("model");
  const [metric, setMetric] = useState<Metric>("tokens");
  const query = useQuery(usageQuery(range, groupBy));
  // The list closes before the chart is drawn, which takes longer than a frame.
  const drawn = useDeferredValue(metric);
  return (
    <Page
      title="Usage"
      description="Days begin at midnight UTC."
      actions={
        <>
          <Select
            aria-label="Time range"
            w={150}
            data={RANGES}
            value={range}
            allowDeselect={false}
            onChange={(value) => setRange(value as Range)}
          />
          <Select
            aria-label="Group by"
            w={150}
            data={GROUPS}
            value={groupBy}
            allowDeselect={false}
            onChange={(value) => setGroupBy(value as GroupBy)}
          />
          <Select
            aria-label="Metric"
            w={170}
            data={METRICS}
            value={metric}
            allowDeselect={false}
            onChange={(value) => setMetric(value as Metric)}
          />
        </>
      }
    >
      <QueryView query={query}>
        {(rows) => (
          <>
            <Totals rows={rows} />
            <Card>
              {rows.length === 0 ? (
                <Empty icon={<IconChartBar />} title="Nothing was used in this time">
                  Usage appears here within a second of a request's end.
                </Empty>
              ) : (
                <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
                  <UsageChart rows={rows} metric={drawn} range={range} height={CHART_HEIGHT} />
                </Suspense>
              )}
            </Card>
            {rows.length > 0 && <UsageTable rows={rows} groupBy={groupBy} range={range} />}
          </>
        )}
      </QueryView>
    </Page>
  );
}

function sum(rows: readonly UsageRow[], of: (row: UsageRow) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

function Totals({ rows }: { rows: UsageRow[] }) {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Stat label="Cost" value={formatCost(sum(rows, ({ cost }) => cost))} />
      <Stat
        label="Tokens"
        value={formatCompact(sum(rows, ({ tokens }) => tokens))}
        detail={`${formatCompact(sum(rows, ({ outputTokens }) => outputTokens))} generated`}
      />
      <Stat label="Requests" value={formatCompact(sum(rows, ({ requests }) => requests))} />
      <Stat
        label="Audio transcribed"
        value={formatSeconds(sum(rows, ({ audioSeconds }) => audioSeconds))}
        detail={`${formatCompact(sum(rows, ({ characters }) => characters))} characters spoken`}
      />
    </SimpleGrid>
  );
}

interface UsageTableProps {
  rows: UsageRow[];
  groupBy: GroupBy;
  range: Range;
}

function UsageTable({ rows, groupBy, range }: UsageTableProps) {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  const lines = [...groups].map(([group, own]) => ({
    group,
    requests: sum(own, (row) => row.requests),
    inputTokens: sum(own, (row) => row.inputTokens),
    outputTokens: sum(own, (row) => row.outputTokens),
    audioSeconds: sum(own, (row) => row.audioSeconds),
    characters: sum(own, (row) => row.characters),
    cost: sum(own, (row) => row.cost),
  }));
  lines.sort((a, b) => b.cost - a.cost || b.requests - a.requests);
  return (
    <Card padding={0}>
      <Group justify="space-between" p="md" pb="xs">
        <Text fw={600}>By {GROUPS.find(({ value }) => value === groupBy)?.label.toLowerCase()}</Text>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={15} />}
          onClick={() => downloadCsv(`parlance-usage-${range}-${groupBy}.csv`, rows)}
        >
          Export CSV
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={640} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th ta="right">Requests</Table.Th>
              <Table.Th ta="right">Input tokens</Table.Th>
              <Table.Th ta="right">Output tokens</Table.Th>
              <Table.Th ta="right">Audio</Table.Th>
              <Table.Th ta="right">Characters</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((line) => (
              <Table.Tr key={line.group} className="tabular">
                <Table.Td fw={500} className="wrap-anywhere">
                  {line.group}
                </Table.Td>
                <Table.Td ta="right">{formatNumber(line.requests)}</Table.Td>
                <Table.Td ta="right">{formatNumber(line.inputTokens)}</Table.Td>
                <Table.Td ta="right">{formatNumber(line.outputTokens)}</Table.Td>
                <Table.Td ta="right">{formatSeconds(line.audioSeconds)}</Table.Td>
                <Table.Td ta="right">{formatNumber(line.characters)}</Table.Td>
                <Table.Td ta="right">{formatCost(line.cost)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
