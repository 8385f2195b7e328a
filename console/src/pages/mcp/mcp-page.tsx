import { Trans } from "../../i18n/trans.tsx";
import { plural, t } from "../../i18n/translate.ts";
import "./mcp.css";
import { Alert, Anchor, Badge, Card, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { IconPlug } from "../../icons.tsx";
import { CallTable } from "./call-table.tsx";
import { EXAMPLE } from "./client-code.ts";
import { ConnectClient } from "./connect-client.tsx";
import { changesServers, type McpServer, managesServers, serverEntriesQuery, serversQuery } from "./mcp-api.ts";
import { AddServer, ServerActions } from "./server-actions.tsx";
import { factsOf, ServerState } from "./server-state.tsx";

/** MCP servers of the installation, or those that the project may use. */
export function McpPage() {
  const session = useSession();
  const isManager = managesServers(session);
  const query = useQuery({ ...serversQuery(isManager), enabled: isManager || session.project !== null });
  if (!isManager && session.project === null) return <NeedsProjectKey />;
  return (
    <Page
      title={t("MCP servers")}
      description={t("Tools that models and MCP clients call through Parlance, with permissions, prices and bounds.")}
      actions={changesServers(session) && <AddServer />}
    >
      {isManager && <UnusedServers mayChange={changesServers(session)} />}
      <QueryView query={query} loading="table">
        {(servers) => <Servers servers={servers} isManager={isManager} />}
      </QueryView>
    </Page>
  );
}

/** Servers of the API that are not in force, with the reason. */
function UnusedServers({ mayChange }: { mayChange: boolean }) {
  const { data: entries = [] } = useQuery(serverEntriesQuery);
  return entries
    .filter(({ status }) => status !== "in_force")
    .map((entry) => (
      <Alert key={entry.id} color="orange" variant="light" title={t("{{name}} is not applied", { name: entry.name })}>
        <Group justify="space-between" gap="xs">
          <Text size="sm" className="wrap-anywhere">
            {entry.problem}
          </Text>
          {mayChange && <ServerActions entry={entry} />}
        </Group>
      </Alert>
    ));
}

function Servers({ servers, isManager }: { servers: readonly McpServer[]; isManager: boolean }) {
  if (servers.length === 0) return <NoServers isManager={isManager} />;
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
        {servers.map((server) => (
          <ServerCard key={server.id} server={server} />
        ))}
      </SimpleGrid>
      <CallTable />
      <ConnectClient />
    </Stack>
  );
}

function NoServers({ isManager }: { isManager: boolean }) {
  return (
    <Card>
      <Empty icon={<IconPlug />} title={t("No MCP servers yet")}>
        {isManager ? (
          <Trans
            text="Add a server, or name servers in <code>parlance.yaml</code>: models of every kind can then call their tools."
            tags={{ code: <code /> }}
          />
        ) : (
          t("Your project may use none. An administrator names servers in the configuration, with the projects.")
        )}
      </Empty>
      {isManager && (
        <div className="mcp-example">
          <CodeBlock text={EXAMPLE} />
        </div>
      )}
    </Card>
  );
}

function ServerCard({ server }: { server: McpServer }) {
  const { id, status, problem, tool_count: count, require_approval: approval } = server;
  return (
    <Card padding="md">
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={6}>
        <Anchor component={Link} to="/mcp/$server" params={{ server: id } as never} fw={600} className="wrap-anywhere">
          {id}
        </Anchor>
        <ServerState status={status} />
      </Group>
      <Group gap={6}>
        <Text size="sm" className="tabular">
          {plural(count, "{{count}} tool", "{{count}} tools")}
        </Text>
        {approval === "always" && (
          <Badge variant="light" color="gray" tt="none" c="var(--mantine-color-text)">
            {t("Approval needed")}
          </Badge>
        )}
      </Group>
      {status === "needs_account" && <Text size="sm">{t("Open it to connect your account.")}</Text>}
      {problem !== null && status !== "needs_account" && (
        <Text size="sm" c="var(--mantine-color-error)" className="wrap-anywhere">
          {problem}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={4} className="wrap-anywhere">
        {factsOf(server)}
      </Text>
    </Card>
  );
}
