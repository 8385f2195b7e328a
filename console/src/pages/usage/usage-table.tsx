import { Button, Card, Group, Table, Title } from "@mantine/core";
import { formatCost, formatMaybeCost, formatNumber, formatSeconds } from "../../components/format.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { IconDownload } from "../../icons.tsx";
import { differsFromStated } from "../requests/cost-parts.ts";
import { downloadCsv } from "./download-csv.ts";
import { GROUPS } from "./groups.ts";
import { timeLabel } from "./time-label.ts";
import { INTERVALS, type UsageRow, type UsageSelection } from "./usage-query.ts";

const COLUMNS: readonly (readonly [label: string, show: (row: UsageRow) => string])[] = [
  ["Requests", ({ requests }) => formatNumber(requests)],
  ["Input tokens", ({ inputTokens }) => formatNumber(inputTokens)],
  ["Output tokens", ({ outputTokens }) => formatNumber(outputTokens)],
  ["Audio", ({ audioSeconds }) => formatSeconds(audioSeconds)],
  ["Characters", ({ characters }) => formatNumber(characters)],
  ["Cost", ({ cost, isUnpriced }) => formatMaybeCost(isUnpriced && cost === 0 ? null : cost)],
];

const STATED: (typeof COLUMNS)[number] = [
  "Stated by providers",
  ({ reported, compared }) => (compared === 0 ? "" : `${formatCost(reported)} (ours: ${formatCost(compared)})`),
];

interface UsageTableProps {
  rows: readonly UsageRow[];
  selection: UsageSelection;
}

/** Sums by group, or each bucket when grouped by time. */
export function UsageTable({ rows, selection }: UsageTableProps) {
  const { groupBy, range, interval } = selection;
  const lines = groupBy === "time" ? rows.toReversed() : sumByGroup(rows);
  const nameOf = (line: UsageRow) => (groupBy === "time" ? timeLabel(line.time, selection) : line.group);
  // A column that is there only where a provider states other costs than our prices make.
  const differs = lines.some(({ reported, compared }) => compared > 0 && differsFromStated(reported, compared));
  const columns = differs ? [...COLUMNS, STATED] : COLUMNS;
  const what = groupBy === "time" ? INTERVALS[interval] : GROUPS.find(({ value }) => value === groupBy)?.label;
  return (
    <Card padding={0}>
      <Group justify="space-between" p="md" pb="xs">
        <Title order={2}>By {what?.toLowerCase()}</Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={15} />}
          onClick={() => downloadCsv(`parlance-usage-${range}-by-${what?.toLowerCase()}.csv`, rows)}
        >
          Export CSV
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={640} tabIndex={0}>
        <Table aria-rowcount={lines.length + 1}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{what}</Table.Th>
              {columns.map(([label]) => (
                <Table.Th key={label} ta="right">
                  {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <VirtualBody
            rows={lines}
            columns={1 + columns.length}
            rowHeight={37}
            keyOf={(line) => `${line.time} ${line.group}`}
          >
            {(line) => (
              <>
                <Table.Td fw={500} className="wrap-anywhere">
                  {nameOf(line)}
                </Table.Td>
                {columns.map(([label, show]) => (
                  <Table.Td key={label} ta="right" className="tabular">
                    {show(line)}
                  </Table.Td>
                ))}
              </>
            )}
          </VirtualBody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

function sumByGroup(rows: readonly UsageRow[]): UsageRow[] {
  const groups = new Map<string, UsageRow>();
  for (const row of rows) {
    const sum = groups.get(row.group);
    if (sum === undefined) {
      groups.set(row.group, { ...row });
      continue;
    }
    sum.requests += row.requests;
    sum.inputTokens += row.inputTokens;
    sum.outputTokens += row.outputTokens;
    sum.tokens += row.tokens;
    sum.audioSeconds += row.audioSeconds;
    sum.characters += row.characters;
    sum.cost += row.cost;
    sum.reported += row.reported;
    sum.compared += row.compared;
    sum.isUnpriced ||= row.isUnpriced;
  }
  return [...groups.values()].sort((a, b) => b.cost - a.cost || b.requests - a.requests);
}
