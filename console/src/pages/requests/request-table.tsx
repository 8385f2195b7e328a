import { Badge } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import {
  formatCost,
  formatDate,
  formatDateTime,
  formatMilliseconds,
  formatNumber,
  formatTime,
} from "../../components/format.ts";
import type { Column } from "../../components/resource-table.tsx";
import { plural, t } from "../../i18n/translate.ts";
import type { SortKey } from "./request-filters.ts";
import { isFailed, outcomeOf, type RequestEntry } from "./requests-api.ts";

interface Measure extends Column<RequestEntry> {
  sortName?: SortKey;
}

/** Columns of the list of requests; `isSortable`: a search has the order of time. */
export function requestColumns(isSortable: boolean): Column<RequestEntry>[] {
  const measures: Measure[] = [
    {
      label: t("First token"),
      sortName: "first",
      cell: ({ first_token_ms: time }) => (time === null ? "—" : formatMilliseconds(time)),
    },
    {
      label: t("Duration"),
      sortName: "duration",
      cell: ({ duration_ms: time }) => formatMilliseconds(time),
    },
    { label: t("Queue"), cell: queueOf },
    { label: t("Tokens"), sortName: "tokens", cell: tokensOf },
    { label: t("Cost"), sortName: "cost", cell: ({ cost_usd: cost }) => (cost === null ? "—" : formatCost(cost)) },
  ];
  return [
    {
      label: t("Time"),
      className: "tabular nowrap",
      hint: ({ ended_at: time }) => formatDateTime(time),
      cell: timeOf,
    },
    { label: t("Model"), minWidth: 200, cell: modelOf },
    { label: t("Outcome"), className: "cell-outcome", cell: outcomeCell },
    ...measures.map(({ sortName, ...column }) => ({
      ...column,
      isNumeric: true,
      ...(isSortable && sortName !== undefined && { sortName }),
    })),
  ];
}

function timeOf({ ended_at: time }: RequestEntry) {
  return (
    <>
      {formatTime(time)}
      {formatDate(time) !== formatDate(Date.now() / 1000) && <div className="cell-detail">{formatDate(time)}</div>}
    </>
  );
}

function modelOf(entry: RequestEntry) {
  return (
    <>
      <Link to="/requests/$request" params={{ request: entry.id }} className="row-link wrap-anywhere">
        {entry.model ?? entry.operation}
      </Link>
      <div className="cell-detail wrap-anywhere">
        {entry.operation}
        {entry.deployment !== null && entry.deployment !== entry.model && ` · ${entry.deployment}`}
        {entry.cache === "hit" && ` · ${t("cached")}`}
        {(entry.attempts ?? 1) > 1 && ` · ${plural(entry.attempts ?? 1, "{{count}} attempt", "{{count}} attempts")}`}
      </div>
    </>
  );
}

function outcomeCell(entry: RequestEntry) {
  return (
    <>
      <Badge variant="dot" color={colorOf(entry)} tt="none" fw={500}>
        {outcomeOf(entry)}
      </Badge>
      {isFailed(entry) && (
        <div className="cell-detail cell-message" title={entry.error_message ?? undefined}>
          {entry.error_message ?? t("Status {{status}}", { status: String(entry.status) })}
        </div>
      )}
    </>
  );
}

function queueOf({ queued_ms: queued, loading_ms: loading }: RequestEntry) {
  return (
    <>
      {queued === null ? "—" : formatMilliseconds(queued)}
      {loading !== null && (
        <div className="cell-detail">{t("{{time}} load", { time: formatMilliseconds(loading) })}</div>
      )}
    </>
  );
}

/** Speech and images have none, which is no zero. */
function tokensOf({ input_tokens: input, output_tokens: output }: RequestEntry): string {
  return !input && !output ? "—" : `${formatNumber(input ?? 0)} → ${formatNumber(output ?? 0)}`;
}

function colorOf(entry: RequestEntry): string {
  if (entry.status === 499) return "gray";
  return isFailed(entry) ? "red" : "teal";
}
