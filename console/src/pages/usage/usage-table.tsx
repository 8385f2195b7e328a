import { Button, Card, Group, Table, Title } from "@mantine/core";
import { formatCost, formatMaybeCost, formatNumber, formatSeconds } from "../../components/format.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { differsFromStated } from "../requests/cost-parts.ts";
import { downloadCsv } from "./download-csv.ts";
import { BY_GROUP, GROUPS } from "./groups.ts";
import { timeLabel } from "./time-label.ts";
import { BY_INTERVAL, INTERVALS, type UsageRow, type UsageSelection } from "./usage-query.ts";

/** What the name of a downloaded file says. */
const FILE_WORDS = {
  ...{ model: "model", project_id: "project", api_key_id: "key", operation: "operation" },
  ...{ "1m": "minute", "1h": "hour", "1d": "day" },
} as const;

const COLUMNS: readonly (readonly [label: Message, show: (row: UsageRow) => string])[] = [
  [msg("Requests"), ({ requests }) => formatNumber(requests)],
  [msg("Input tokens"), ({ inputTokens }) => formatNumber(inputTokens)],
  [msg("Output tokens"), ({ outputTokens }) => formatNumber(outputTokens)],
  [msg("Audio"), ({ audioSeconds }) => formatSeconds(audioSeconds)],
  [msg("Characters"), ({ characters }) => formatNumber(characters)],
  [msg("Cost"), ({ cost, isUnpriced }) => formatMaybeCost(isUnpriced && cost === 0 ? null : cost)],
];

const STATED: (typeof COLUMNS)[number] = [
  msg("Stated by providers"),
  ({ reported, compared }) =>
    compared === 0
      ? ""
      : t("{{reported}} (ours: {{compared}})", { reported: formatCost(reported), compared: formatCost(compared) }),
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
  const title = groupBy === "time" ? BY_INTERVAL[interval] : BY_GROUP[groupBy];
  return (
    <Card padding={0}>
      <Group justify="space-between" p="md" pb="xs">
        <Title order={2}>{t(title)}</Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={15} />}
          onClick={() =>
            downloadCsv(`parlance-usage-${range}-by-${FILE_WORDS[groupBy === "time" ? interval : groupBy]}.csv`, rows)
          }
        >
          {t("Export CSV")}
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={640} tabIndex={0}>
        <Table aria-rowcount={lines.length + 1}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{what !== undefined && t(what)}</Table.Th>
              {columns.map(([label]) => (
                <Table.Th key={t(label)} ta="right">
                  {t(label)}
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
                  <Table.Td key={t(label)} ta="right" className="tabular">
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
