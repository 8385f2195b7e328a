import { Button } from "@mantine/core";
import { formatCost, formatMaybeCost, formatNumber, formatSeconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { differsFromStated } from "../requests/cost-parts.ts";
import { changeOf } from "./change-of.ts";
import { downloadCsv } from "./download-csv.ts";
import { BY_GROUP, GROUPS } from "./groups.ts";
import { timeLabel } from "./time-label.ts";
import { BY_INTERVAL, INTERVALS, type UsageRow, type UsageSelection } from "./usage-query.ts";

/** What the name of a downloaded file says. */
const FILE_WORDS = {
  ...{ model: "model", project_id: "project", api_key_id: "key", operation: "operation" },
  ...{ user_id: "person", end_user: "end-user", tag: "tag" },
  ...{ "1m": "minute", "1h": "hour", "1d": "day" },
} as const;

type UsageColumn = readonly [label: Message, show: (row: UsageRow) => string, sortBy?: (row: UsageRow) => number];

const COLUMNS: readonly UsageColumn[] = [
  [msg("Requests"), ({ requests }) => formatNumber(requests), ({ requests }) => requests],
  [msg("Input tokens"), ({ inputTokens }) => formatNumber(inputTokens), ({ inputTokens }) => inputTokens],
  [msg("Output tokens"), ({ outputTokens }) => formatNumber(outputTokens), ({ outputTokens }) => outputTokens],
  [msg("Audio"), ({ audioSeconds }) => formatSeconds(audioSeconds), ({ audioSeconds }) => audioSeconds],
  [msg("Characters"), ({ characters }) => formatNumber(characters), ({ characters }) => characters],
  [msg("Cost"), ({ cost, isUnpriced }) => formatMaybeCost(isUnpriced && cost === 0 ? null : cost), ({ cost }) => cost],
];

const STATED: UsageColumn = [
  msg("Stated by providers"),
  ({ reported, compared }) =>
    compared === 0
      ? ""
      : t("{{reported}} (ours: {{compared}})", { reported: formatCost(reported), compared: formatCost(compared) }),
];

interface UsageTableProps {
  rows: readonly UsageRow[];
  selection: UsageSelection;
  /** Usage of the period before; undefined: it is not read. */
  previous: readonly UsageRow[] | undefined;
}

/** Sums by group, or each bucket when grouped by time. */
export function UsageTable({ rows, selection, previous }: UsageTableProps) {
  const { groupBy, range, interval } = selection;
  const lines = groupBy === "time" ? rows.toReversed() : sumByGroup(rows);
  const nameOf = (line: UsageRow) => (groupBy === "time" ? timeLabel(line.time, selection) : line.group);
  // A column that is there only where a provider states other costs than our prices make.
  const differs = lines.some(({ reported, compared }) => compared > 0 && differsFromStated(reported, compared));
  const columns = [...COLUMNS, ...(differs ? [STATED] : [])];
  const before = new Map(sumByGroup(previous ?? []).map((line) => [line.group, line]));
  const comparesGroups = previous !== undefined && groupBy !== "time";
  const what = groupBy === "time" ? INTERVALS[interval] : GROUPS.find(({ value }) => value === groupBy)?.label;
  const title = groupBy === "time" ? BY_INTERVAL[interval] : BY_GROUP[groupBy];
  return (
    <ResourceTable
      title={t(title)}
      tools={
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
      }
      rows={lines}
      keyOf={(line) => `${line.time} ${line.group}`}
      rowHeight={37}
      minWidth={640}
      empty={null}
      columns={[
        { label: what === undefined ? "" : t(what), className: "cell-name wrap-anywhere", cell: nameOf },
        ...columns.map(([label, show, sortBy]) => ({
          label: t(label),
          isNumeric: true,
          cell: show,
          ...(sortBy !== undefined && { sortBy }),
        })),
        comparesGroups && {
          label: t("Against the period before"),
          isNumeric: true,
          cell: (line) => changeOf(measureOf(line), measureOf(before.get(line.group))),
        },
      ]}
    />
  );
}

/** What is compared: the cost, or the requests of models without a price. */
function measureOf(line: UsageRow | undefined): number {
  if (line === undefined) return 0;
  return line.cost > 0 ? line.cost : line.requests;
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
