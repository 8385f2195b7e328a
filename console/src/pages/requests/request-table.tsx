import { Badge, Table, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import {
  formatCost,
  formatDate,
  formatDateTime,
  formatMilliseconds,
  formatNumber,
  formatTime,
} from "../../components/format.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { memo } from "../../i18n/memo.ts";
import { type Message, msg, plural, t } from "../../i18n/translate.ts";
import { IconArrowDown, IconArrowUp } from "../../icons.tsx";
import type { SortKey } from "./request-filters.ts";
import { isFailed, outcomeOf, type RequestEntry } from "./requests-api.ts";

interface RequestTableProps {
  entries: RequestEntry[];
  sort: string;
  /** Undefined: the list cannot be sorted. */
  onSort: ((sort: string) => void) | undefined;
  onNearEnd: () => void;
}

const COLUMNS: readonly (readonly [label: Message, sort: SortKey | undefined])[] = [
  [msg("First token"), "first"],
  [msg("Duration"), "duration"],
  [msg("Queue"), undefined],
  [msg("Tokens"), "tokens"],
  [msg("Cost"), "cost"],
];

export function RequestTable({ entries, sort, onSort, onNearEnd }: RequestTableProps) {
  return (
    <Table.ScrollContainer minWidth={880} tabIndex={0}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Time")}</Table.Th>
            <Table.Th>{t("Model")}</Table.Th>
            <Table.Th>{t("Outcome")}</Table.Th>
            {COLUMNS.map(([label, key]) => (
              <Table.Th key={key ?? "queue"} ta="right" aria-sort={onSort && ariaSort(sort, key)}>
                {key === undefined || onSort === undefined ? (
                  t(label)
                ) : (
                  <SortButton label={t(label)} by={key} sort={sort} onSort={onSort} />
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <VirtualBody rows={entries} columns={8} rowHeight={57} keyOf={({ id }) => id} onNearEnd={onNearEnd}>
          {(entry) => <RequestCells entry={entry} />}
        </VirtualBody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ariaSort(sort: string, key: SortKey | undefined): "ascending" | "descending" | undefined {
  if (key === undefined || sort.replace(/^-/, "") !== key) return undefined;
  return sort.startsWith("-") ? "descending" : "ascending";
}

interface SortButtonProps {
  label: string;
  by: SortKey;
  sort: string;
  onSort: (sort: string) => void;
}

/** Sorts by a measure: the largest first, then the smallest, then by time. */
function SortButton({ label, by, sort, onSort }: SortButtonProps) {
  const next = sort === `-${by}` ? by : sort === by ? "" : `-${by}`;
  return (
    <UnstyledButton
      className="sort-button"
      onClick={() => onSort(next)}
      title={t("Sorts all requests of the time range")}
    >
      {label}
      {sort === `-${by}` && <IconArrowDown size={12} aria-hidden />}
      {sort === by && <IconArrowUp size={12} aria-hidden />}
    </UnstyledButton>
  );
}

const RequestCells = memo(function RequestCells({ entry }: { entry: RequestEntry }) {
  const loading = entry.loading_ms === null ? null : t("{{time}} load", { time: formatMilliseconds(entry.loading_ms) });
  return (
    <>
      <td className="cell tabular nowrap" title={formatDateTime(entry.ended_at)}>
        {formatTime(entry.ended_at)}
        {formatDate(entry.ended_at) !== formatDate(Date.now() / 1000) && (
          <div className="cell-detail">{formatDate(entry.ended_at)}</div>
        )}
      </td>
      <td className="cell">
        <Link to="/requests/$request" params={{ request: entry.id }} className="row-link wrap-anywhere">
          {entry.model ?? entry.operation}
        </Link>
        <div className="cell-detail wrap-anywhere">
          {entry.operation}
          {entry.deployment !== null && ` · ${entry.deployment}`}
          {entry.cache === "hit" && ` · ${t("cached")}`}
          {(entry.attempts ?? 1) > 1 && ` · ${plural(entry.attempts ?? 1, "{{count}} attempt", "{{count}} attempts")}`}
        </div>
      </td>
      <td className="cell cell-outcome">
        <Badge variant="dot" color={colorOf(entry)} tt="none" fw={500}>
          {outcomeOf(entry)}
        </Badge>
        {isFailed(entry) && (
          <div className="cell-detail cell-message" title={entry.error_message ?? undefined}>
            {entry.error_message ?? t("Status {{status}}", { status: String(entry.status) })}
          </div>
        )}
      </td>
      <td className="cell cell-end tabular nowrap">
        {entry.first_token_ms === null ? "—" : formatMilliseconds(entry.first_token_ms)}
      </td>
      <td className="cell cell-end tabular nowrap">{formatMilliseconds(entry.duration_ms)}</td>
      <td className="cell cell-end tabular nowrap">
        {entry.queued_ms === null ? "—" : formatMilliseconds(entry.queued_ms)}
        {loading !== null && <div className="cell-detail">{loading}</div>}
      </td>
      <td className="cell cell-end tabular nowrap">
        {/* Speech and images have none, which is no zero. */}
        {!entry.input_tokens && !entry.output_tokens
          ? "—"
          : `${formatNumber(entry.input_tokens ?? 0)} → ${formatNumber(entry.output_tokens ?? 0)}`}
      </td>
      <td className="cell cell-end tabular nowrap">{entry.cost_usd === null ? "—" : formatCost(entry.cost_usd)}</td>
    </>
  );
});

function colorOf(entry: RequestEntry): string {
  if (entry.status === 499) return "gray";
  return isFailed(entry) ? "red" : "teal";
}
