import { Badge, Button, Card, Group, SegmentedControl, Switch, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { followRequests } from "../../api/live-requests.ts";
import { type Query, request } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { formatCost, formatMilliseconds, formatNumber, formatTime } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";

interface RequestEntry {
  id: string;
  ended_at: number;
  project_id: string;
  operation: string;
  model: string | null;
  answered_by: string | null;
  deployment: string | null;
  status: number;
  error: string | null;
  attempts: number | null;
  queued_ms: number | null;
  first_token_ms: number | null;
  duration_ms: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
}

interface RequestPage {
  data: RequestEntry[];
  next_page: string | null;
}

const PATH = "v1/organization/requests";
const PAGE_SIZE = 50;
/** More live rows would make the page slow. */
const MAX_LIVE = 200;

export function RequestsPage() {
  const [{ status, model }, setAddress] = useAddressState({ status: "all", model: "" });
  const [isLive, setIsLive] = useState(true);
  const [debouncedModel] = useDebouncedValue(model.trim(), 300);
  const filter: Query = { status: status === "all" ? undefined : status, models: debouncedModel || undefined };
  const query = useInfiniteQuery({
    queryKey: ["requests", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<RequestPage>(PATH, { query: { ...filter, limit: PAGE_SIZE, page: pageParam }, signal }),
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });
  const live = useLiveRequests(isLive, (entry) => matches(entry, status, debouncedModel));
  const listed = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const known = new Set(listed.map(({ id }) => id));
  const entries = [...live.filter(({ id }) => !known.has(id)), ...listed];
  return (
    <Page
      title="Requests"
      description="Every request with its timing, tokens and cost."
      actions={<Switch label="Live" checked={isLive} onChange={(event) => setIsLive(event.currentTarget.checked)} />}
    >
      <Group gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Outcome"
          value={status}
          onChange={(next) => setAddress({ status: next })}
          data={[
            { value: "all", label: "All" },
            { value: "succeeded", label: "Succeeded" },
            { value: "failed", label: "Failed" },
          ]}
        />
        <TextInput
          size="xs"
          aria-label="Model"
          placeholder="Model id"
          value={model}
          onChange={(event) => setAddress({ model: event.currentTarget.value }, { replace: true })}
        />
      </Group>
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading />}
      {query.data !== undefined && (
        <Card padding={0}>
          {entries.length === 0 ? (
            <Empty icon={<IconHistory />} title="No requests yet">
              Ask something in the playground, and it appears here within a second.
            </Empty>
          ) : (
            <RequestTable entries={entries} />
          )}
        </Card>
      )}
      {query.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show older requests
          </Button>
        </Group>
      )}
    </Page>
  );
}

function RequestTable({ entries }: { entries: RequestEntry[] }) {
  return (
    <Table.ScrollContainer minWidth={860} tabIndex={0}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            <Table.Th>Model</Table.Th>
            <Table.Th>Outcome</Table.Th>
            <Table.Th ta="right">First token</Table.Th>
            <Table.Th ta="right">Duration</Table.Th>
            <Table.Th ta="right">Queue</Table.Th>
            <Table.Th ta="right">Tokens</Table.Th>
            <Table.Th ta="right">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <VirtualBody rows={entries} columns={8} rowHeight={57} keyOf={({ id }) => id}>
          {(entry) => (
            <>
              <Table.Td className="tabular nowrap" title={entry.id}>
                {formatTime(entry.ended_at)}
              </Table.Td>
              <Table.Td>
                <Text size="sm" fw={500} className="wrap-anywhere" maw={320} lineClamp={2}>
                  {entry.model ?? "—"}
                </Text>
                <Text size="xs" c="dimmed" className="wrap-anywhere">
                  {entry.operation}
                  {entry.deployment !== null && ` · ${entry.deployment}`}
                  {(entry.attempts ?? 1) > 1 && ` · ${entry.attempts} attempts`}
                </Text>
              </Table.Td>
              <Table.Td>
                <Badge variant="dot" color={colorOf(entry.status)} tt="none" fw={500}>
                  {entry.status === 499 ? "Cancelled by client" : entry.status}
                </Badge>
                {entry.error !== null && (
                  <Text size="xs" c="dimmed">
                    {entry.error}
                  </Text>
                )}
              </Table.Td>
              <Table.Td ta="right" className="tabular nowrap">
                {entry.first_token_ms === null ? "—" : formatMilliseconds(entry.first_token_ms)}
              </Table.Td>
              <Table.Td ta="right" className="tabular nowrap">
                {formatMilliseconds(entry.duration_ms)}
              </Table.Td>
              <Table.Td ta="right" className="tabular nowrap">
                {entry.queued_ms === null ? "—" : formatMilliseconds(entry.queued_ms)}
              </Table.Td>
              <Table.Td ta="right" className="tabular nowrap">
                {entry.input_tokens === null
                  ? "—"
                  : `${formatNumber(entry.input_tokens)} → ${formatNumber(entry.output_tokens ?? 0)}`}
              </Table.Td>
              <Table.Td ta="right" className="tabular nowrap">
                {entry.cost_usd === null ? "—" : formatCost(entry.cost_usd)}
              </Table.Td>
            </>
          )}
        </VirtualBody>
      </Table>
    </Table.ScrollContainer>
  );
}

function colorOf(status: number): string {
  if (status < 400) return "teal";
  return status === 499 ? "gray" : "red";
}

function matches(entry: RequestEntry, status: string, model: string): boolean {
  if (model !== "" && entry.model !== model) return false;
  return status === "all" || (status === "failed") === entry.status >= 400;
}

/** Requests that end while the page is open, newest first. */
function useLiveRequests(isLive: boolean, isShown: (entry: RequestEntry) => boolean): RequestEntry[] {
  const client = useQueryClient();
  const [entries, setEntries] = useState<RequestEntry[]>([]);
  useEffect(() => {
    setEntries([]);
    if (!isLive) return;
    return followRequests((message) => {
      if ("gap" in message) void client.invalidateQueries({ queryKey: ["requests"] });
      else setEntries((known) => [message.entry as RequestEntry, ...known].slice(0, MAX_LIVE));
    });
  }, [isLive, client]);
  return entries.filter(isShown);
}
