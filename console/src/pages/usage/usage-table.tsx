import { Button, Card, Group, Table, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { formatCost, formatNumber, formatSeconds } from "../../components/format.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { downloadCsv } from "./download-csv.ts";
import { timeLabel } from "./time-label.ts";
import { GROUPS, INTERVALS, type UsageRow, type UsageSelection } from "./usage-query.ts";

interface UsageTableProps {
  rows: readonly UsageRow[];
  selection: UsageSelection;
}

/** Sums by group, or each bucket when grouped by time. */
export function UsageTable({ rows, selection }: UsageTableProps) {
  const { groupBy, range, interval } = selection;
  const lines = groupBy === "time" ? rows.toReversed() : sumByGroup(rows);
  const nameOf = (line: UsageRow) => (groupBy === "time" ? timeLabel(line.time, selection) : line.group);
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
              <Table.Th ta="right">Requests</Table.Th>
              <Table.Th ta="right">Input tokens</Table.Th>
              <Table.Th ta="right">Output tokens</Table.Th>
              <Table.Th ta="right">Audio</Table.Th>
              <Table.Th ta="right">Characters</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <VirtualBody rows={lines} columns={7} rowHeight={37} keyOf={(line) => `${line.time} ${line.group}`}>
            {(line) => (
              <>
                <Table.Td fw={500} className="wrap-anywhere">
                  {nameOf(line)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatNumber(line.requests)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatNumber(line.inputTokens)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatNumber(line.outputTokens)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatSeconds(line.audioSeconds)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatNumber(line.characters)}
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {formatCost(line.cost)}
                </Table.Td>
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
  }
  return [...groups.values()].sort((a, b) => b.cost - a.cost || b.requests - a.requests);
}
