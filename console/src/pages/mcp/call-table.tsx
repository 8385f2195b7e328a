import { Badge, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatCost, formatDateTime, formatMilliseconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
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
  const calls = useMemo(() => query.data?.pages.flatMap(({ data }) => data), [query.data]);
  const nameOf = useCallers(calls ?? []);
  return (
    <ResourceTable
      title={t("Latest calls")}
      query={query}
      rows={calls}
      keyOf={({ id }) => id}
      minWidth={760}
      empty={
        <Empty icon={<IconHistory />} title={t("No calls yet")}>
          {t("Calls of models, MCP clients and this page are listed here, without what they send and return.")}
        </Empty>
      }
      columns={[
        {
          label: t("Time"),
          className: "nowrap",
          hint: ({ created_at: time }) => formatDateTime(time),
          cell: ({ created_at: time }) => formatAgo(time),
        },
        {
          label: t("Tool"),
          cell: (call) => (
            <>
              <Text size="sm" fw={500} className="wrap-anywhere">
                {server === undefined && `${call.server} / `}
                {call.tool}
              </Text>
              <Text size="xs" c="dimmed">
                {t(SOURCES[call.source])}
              </Text>
            </>
          ),
        },
        {
          label: t("Who"),
          className: "wrap-anywhere",
          cell: (call) => {
            const { caller, project } = nameOf(call);
            return (
              <>
                {caller}
                <Text size="xs" c="dimmed">
                  {project}
                </Text>
              </>
            );
          },
        },
        { label: t("Outcome"), cell: (call) => <Outcome call={call} /> },
        { label: t("Duration"), isNumeric: true, cell: ({ duration_ms: time }) => formatMilliseconds(time) },
        {
          label: t("Result"),
          isNumeric: true,
          cell: ({ result_bytes: bytes }) => (bytes === null ? "—" : formatBytes(bytes)),
        },
        {
          label: t("Cost"),
          isNumeric: true,
          cell: ({ cost_usd: cost }) => (cost === null ? "—" : formatCost(cost)),
        },
      ]}
    />
  );
}

function Outcome({ call: { outcome, error } }: { call: McpCall }) {
  const { color, label } = OUTCOMES[outcome];
  return (
    <>
      <Badge variant="dot" color={color} tt="none" fw={500}>
        {t(label)}
      </Badge>
      {error !== null && (
        <Text size="xs" c="dimmed" className="wrap-anywhere" maw={320}>
          {error}
        </Text>
      )}
    </>
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
