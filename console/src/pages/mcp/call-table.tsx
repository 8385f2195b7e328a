import { Badge, Button, Card, Group, Table, Text, Title } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatCost, formatDateTime, formatMilliseconds } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
import { msg, t } from "../../i18n/translate.ts";
import { IconHistory } from "../../icons.tsx";
import { groupNames } from "../usage/group-names.ts";
import { CALLS_PATH, MCP_CALLS, type McpCall, type McpCallPage } from "./mcp-api.ts";

const PAGE_SIZE = 25;
const REFRESH_MS = 10_000;

const OUTCOMES = {
  completed: { color: "teal", label: msg("Completed") },
  tool_error: { color: "orange", label: msg("Error of the tool") },
  failed: { color: "red", label: msg("Failed") },
  cancelled: { color: "gray", label: msg("Canceled") },
} as const;

const SOURCES = {
  response: msg("Response of a model"),
  gateway: msg("MCP client"),
  api: msg("Console or API"),
} as const;

/** Latest calls of all servers, or of one. */
export function CallTable({ server }: { server?: string }) {
  const query = useInfiniteQuery({
    queryKey: [...MCP_CALLS, server ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<McpCallPage>(CALLS_PATH, { query: { limit: PAGE_SIZE, server, after: pageParam }, signal }),
    getNextPageParam: ({ has_more, last_id }) => (has_more ? (last_id ?? undefined) : undefined),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card padding={0}>
      <Title order={2} p="md" pb="xs">
        {t("Latest calls")}
      </Title>
      <QueryView query={query}>
        {({ pages }) => <Calls calls={pages.flatMap(({ data }) => data)} showsServer={server === undefined} />}
      </QueryView>
      {query.hasNextPage && (
        <Group justify="center" p="sm">
          <Button
            variant="default"
            size="xs"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {t("Show older calls")}
          </Button>
        </Group>
      )}
    </Card>
  );
}

function Calls({ calls, showsServer }: { calls: readonly McpCall[]; showsServer: boolean }) {
  const nameOf = useCallers(calls);
  if (calls.length === 0) {
    return (
      <Empty icon={<IconHistory />} title={t("No calls yet")}>
        {t("Calls of models, MCP clients and this page are listed here, without what they send and return.")}
      </Empty>
    );
  }
  return (
    <Table.ScrollContainer minWidth={760} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Time")}</Table.Th>
            <Table.Th>{t("Tool")}</Table.Th>
            <Table.Th>{t("Who")}</Table.Th>
            <Table.Th>{t("Outcome")}</Table.Th>
            <Table.Th ta="right">{t("Duration")}</Table.Th>
            <Table.Th ta="right">{t("Result")}</Table.Th>
            <Table.Th ta="right">{t("Cost")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map((call) => (
            <CallRow key={call.id} call={call} who={nameOf(call)} showsServer={showsServer} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface CallRowProps {
  call: McpCall;
  who: { caller: string; project: string | undefined };
  showsServer: boolean;
}

function CallRow({ call, who, showsServer }: CallRowProps) {
  const { color, label } = OUTCOMES[call.outcome];
  return (
    <Table.Tr>
      <Table.Td className="nowrap" title={formatDateTime(call.created_at)}>
        {formatAgo(call.created_at)}
      </Table.Td>
      <Table.Td>
        <Text size="sm" fw={500} className="wrap-anywhere">
          {showsServer && `${call.server} / `}
          {call.tool}
        </Text>
        <Text size="xs" c="dimmed">
          {t(SOURCES[call.source])}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="wrap-anywhere">
          {who.caller}
        </Text>
        <Text size="xs" c="dimmed">
          {who.project}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge variant="dot" color={color} tt="none" fw={500}>
          {t(label)}
        </Badge>
        {call.error !== null && (
          <Text size="xs" c="dimmed" className="wrap-anywhere" maw={320}>
            {call.error}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {formatMilliseconds(call.duration_ms)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {call.result_bytes === null ? "—" : formatBytes(call.result_bytes)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {call.cost_usd === null ? "—" : formatCost(call.cost_usd)}
      </Table.Td>
    </Table.Tr>
  );
}

/** Names of keys and projects, as far as the session may read them. */
function useCallers(calls: readonly McpCall[]) {
  const { user } = useSession();
  const keys = [...new Map(calls.map((call) => [call.api_key_id, call.project_id]))].map(([id, project]) => ({
    id,
    project,
  }));
  const { data } = useQuery({
    queryKey: ["mcp-callers", keys],
    queryFn: async ({ signal }) => ({
      keys: await groupNames("api_key_id", keys, signal),
      projects: await groupNames("project_id", keys, signal),
    }),
    placeholderData: (previous) => previous,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return ({ api_key_id: key, project_id: project }: McpCall) => ({
    caller: key === user?.id ? user.email : (data?.keys.get(key) ?? key),
    project: project === null ? undefined : (data?.projects.get(project) ?? project),
  });
}
