import { Button, Card, Group, Skeleton, Switch, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { followRequests } from "../../api/live-requests.ts";
import { request } from "../../api/request.ts";
import { Histogram } from "../../components/charts/histogram.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatDateTime } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useLanguage } from "../../i18n/change-language.ts";
import { plural, t } from "../../i18n/translate.ts";
import { IconActivity, IconDownload, IconX } from "../../icons.tsx";
import { exportRequests } from "./export-requests.ts";
import { RequestFilterBar } from "./request-filter-bar.tsx";
import { type FilterState, matches, NO_CONDITIONS, useRequestFilters } from "./request-filters.ts";
import { requestColumns } from "./request-table.tsx";
import { histogramQuery, type RequestEntry, type RequestPage } from "./requests-api.ts";

const PAGE_SIZE = 100;
/** More live rows would make the page slow. */
const MAX_LIVE = 200;
/** The range moves on by this much, so that the queries can be cached. */
const STEP_SECONDS = 60;

export function RequestsPage() {
  const now = useNow();
  const state = useRequestFilters(now);
  const { filters, list, isSorted, change } = state;
  const [isLive, setIsLive] = useState(true);
  const query = useInfiniteQuery({
    queryKey: ["requests", "list", list],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<RequestPage>(list.path, { query: { ...list.query, limit: PAGE_SIZE, page: pageParam }, signal }),
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
    placeholderData: (previous) => previous,
  });
  const live = useLiveRequests(isLive && !isSorted);
  const { data } = query;
  const isSortable = filters.words === "";
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: their labels are those of the language
  const columns = useMemo(() => requestColumns(isSortable), [isSortable, language]);
  const sort = (next: string) => change({ sort: next });
  const entries = useMemo(() => {
    const listed = data?.pages.flatMap((page) => page.data) ?? [];
    const ids = new Set(listed.map(({ id }) => id));
    const added = live.filter((entry) => !ids.has(entry.id) && matches(entry, filters));
    return [...added, ...listed];
  }, [data, live, filters]);
  return (
    <Page
      title={t("Requests")}
      description={t("Every request with its timing, tokens and cost.")}
      actions={
        <>
          <Switch
            label={t("Live")}
            // New requests have no place in a list that is not sorted by time.
            disabled={isSorted}
            checked={isLive && !isSorted}
            onChange={(event) => setIsLive(event.currentTarget.checked)}
          />
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={15} />}
            disabled={entries.length === 0}
            onClick={() => void exportRequests(list)}
          >
            {t("Export CSV")}
          </Button>
        </>
      }
    >
      <RequestFilterBar state={state} />
      <TimeCard state={state} />
      <ResourceTable
        query={query}
        rows={data && entries}
        keyOf={({ id }) => id}
        rowHeight={57}
        minWidth={880}
        columns={columns}
        sort={filters.sort}
        onSort={sort}
        empty={<NoRequests state={state} />}
      />
    </Page>
  );
}

function NoRequests({ state: { filters, isFiltered, change } }: { state: FilterState }) {
  if (!isFiltered) {
    return (
      <Empty icon={<IconActivity />} title={t("No requests yet")}>
        {t("Send a message in the playground: it appears here within a second, with its queue, first token and cost.")}
      </Empty>
    );
  }
  return (
    <Empty icon={<IconActivity />} title={t("No request matches these filters")}>
      {filters.words !== "" && (
        <Text size="sm" c="dimmed" mb="sm">
          {t("The search finds prompts and answers that the project has recorded.")}
        </Text>
      )}
      <Button variant="default" size="xs" onClick={() => change(NO_CONDITIONS)}>
        {t("Clear filters")}
      </Button>
    </Empty>
  );
}

const HISTOGRAM_CARD_HEIGHT = 148;

/** Requests over the time of the range; dragging selects a part of it. */
function TimeCard({ state: { filters, histogram, change } }: { state: FilterState }) {
  const { data, isError } = useQuery(histogramQuery(histogram));
  // The list says why.
  if (isError) return null;
  if (data === undefined) return <Skeleton height={HISTOGRAM_CARD_HEIGHT} radius="md" />;
  const bars = data.map(({ start_time, requests, errors }) => ({ time: start_time, total: requests, failed: errors }));
  const width = (Number(histogram.end_time) - Number(histogram.start_time)) / Math.max(1, bars.length);
  const selection = filters.from === "" ? undefined : { from: Number(filters.from), to: Number(filters.to) };
  const total = bars.reduce((sum, bar) => sum + bar.total, 0);
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  return (
    <Card padding="sm">
      <Group justify="space-between" mb={6} gap="xs" mih={26}>
        <Text size="sm" className="tabular">
          {plural(total, "{{count}} request", "{{count}} requests")}
          {failed > 0 && (
            <>
              {" · "}
              <Text span inherit c="var(--mantine-color-error)">
                {t("{{number}} failed", { number: failed })}
              </Text>
            </>
          )}
        </Text>
        {selection !== undefined && (
          <Button
            size="compact-xs"
            variant="light"
            rightSection={<IconX size={13} />}
            onClick={() => change({ from: "", to: "" })}
          >
            {t("{{from}} to {{to}}", {
              from: formatDateTime(selection.from),
              to: formatDateTime(selection.to),
            })}
          </Button>
        )}
      </Group>
      <Histogram
        label={t("Requests over time")}
        bars={bars}
        width={width}
        selection={selection}
        onSelect={(part) => change({ from: part ? String(part.from) : "", to: part ? String(part.to) : "" })}
      />
    </Card>
  );
}

/** Unix seconds, which move on in steps. */
function useNow(): number {
  const current = () => Math.ceil(Date.now() / 1000 / STEP_SECONDS) * STEP_SECONDS;
  const [now, setNow] = useState(current);
  useEffect(() => {
    const timer = setInterval(() => setNow(current()), 5000);
    return () => clearInterval(timer);
  });
  return now;
}

/** Requests that end while the page is open, newest first. */
function useLiveRequests(isLive: boolean): RequestEntry[] {
  const client = useQueryClient();
  const [entries, setEntries] = useState<RequestEntry[]>([]);
  useEffect(() => {
    setEntries([]);
    if (!isLive) return;
    return followRequests((message) => {
      if ("gap" in message) void client.invalidateQueries({ queryKey: ["requests"] });
      else setEntries((previous) => [message.entry as RequestEntry, ...previous].slice(0, MAX_LIVE));
    });
  }, [isLive, client]);
  return entries;
}
