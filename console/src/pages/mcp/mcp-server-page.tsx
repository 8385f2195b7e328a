import { t } from "../../i18n/translate.ts";
import "./mcp.css";
import { Alert, Card, Group, Stack, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatMilliseconds } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { IconPlug } from "../../icons.tsx";
import { CallTable } from "./call-table.tsx";
import { ConnectClient } from "./connect-client.tsx";
import { changesServers, type McpServer, managesServers, serverEntriesQuery, serversQuery } from "./mcp-api.ts";
import { ServerAccess } from "./server-access.tsx";
import { ServerAccounts } from "./server-account.tsx";
import { ServerActions } from "./server-actions.tsx";
import { factsOf, ServerState } from "./server-state.tsx";
import { ToolList } from "./tool-list.tsx";

/** One MCP server: its tools to try, its calls, who may use it, and how clients connect to it. */
export function McpServerPage() {
  const { server: id } = useParams({ strict: false }) as { server: string };
  const session = useSession();
  const isManager = managesServers(session);
  const query = useQuery({ ...serversQuery(isManager), enabled: isManager || session.project !== null });
  if (!isManager && session.project === null) return <NeedsProjectKey />;
  return (
    <QueryView query={query} loading="page">
      {(servers) => {
        const server = servers.find((each) => each.id === id);
        return server === undefined ? <NoServer id={id} /> : <ServerView server={server} isManager={isManager} />;
      }}
    </QueryView>
  );
}

function NoServer({ id }: { id: string }) {
  return (
    <Page title={id}>
      <Card>
        <Empty icon={<IconPlug />} title={t("There is no such server")}>
          {t("It was removed, or your project may not use it.")}{" "}
          <Link to="/mcp" className="link">
            {t("All MCP servers")}
          </Link>
        </Empty>
      </Card>
    </Page>
  );
}

function ServerView({ server, isManager }: { server: McpServer; isManager: boolean }) {
  const { id, status, problem, checked_at: checkedAt, list_ms: listMs } = server;
  const [{ tab }, setAddress] = useAddressState({ tab: "tools" });
  const session = useSession();
  const { data: entries } = useQuery({ ...serverEntriesQuery, enabled: isManager });
  const entry = entries?.find(({ name, source }) => name === id && source === "api");
  return (
    <Page
      title={id}
      description={
        <>
          <Link to="/mcp" className="link">
            {t("MCP servers")}
          </Link>{" "}
          / {factsOf(server)}
        </>
      }
      actions={
        <Group gap="xs" title={checkedAt === null ? undefined : t("Checked {{time}}", { time: formatAgo(checkedAt) })}>
          <ServerState status={status} />
          {entry !== undefined && changesServers(session) && <ServerActions entry={entry} />}
        </Group>
      }
    >
      {server.oauth && <ServerAccounts server={id} />}
      {problem !== null && status !== "needs_account" && (
        <Alert color="red" variant="light" title={t("The server did not list its tools")}>
          {problem}{" "}
          {checkedAt !== null &&
            t("Tried {{time}}, for {{duration}}.", {
              time: formatAgo(checkedAt),
              duration: formatMilliseconds(listMs ?? 0),
            })}
        </Alert>
      )}
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "tools" })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="tools">{t("Tools")}</Tabs.Tab>
          <Tabs.Tab value="calls">{t("Calls")}</Tabs.Tab>
          {isManager && <Tabs.Tab value="access">{t("Access and bounds")}</Tabs.Tab>}
          <Tabs.Tab value="connect">{t("Connect")}</Tabs.Tab>
        </Tabs.List>
        <Stack pt="md">
          <Tabs.Panel value="tools">
            <ToolList server={server} isManager={isManager} />
          </Tabs.Panel>
          <Tabs.Panel value="calls">
            <CallTable server={id} />
          </Tabs.Panel>
          {isManager && (
            <Tabs.Panel value="access">
              <ServerAccess server={server} isInFile={entries !== undefined && entry === undefined} />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="connect">
            <ConnectClient server={id} />
          </Tabs.Panel>
        </Stack>
      </Tabs>
    </Page>
  );
}
