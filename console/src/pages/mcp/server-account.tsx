import { Badge, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatDate } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { useAction } from "../../components/use-action.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { MCP } from "./mcp-api.ts";

type Connection = Answers["McpConnection"];
/** `caller`: the person, or the project of a key without a person. */
type Owner = "caller" | "project";

const pathOf = (server: string, owner: Owner) =>
  `v1/mcp_servers/${encodeURIComponent(server)}/connection${owner === "caller" ? "" : `?owner=${owner}`}`;

const connectionQuery = (server: string, owner: Owner) =>
  queryOptions({
    queryKey: [...MCP, "connection", server, owner],
    queryFn: ({ signal }) => request<Connection>(pathOf(server, owner), { signal }),
  });

/** Accounts with which a server is used: that of the person, and that of the project for its other keys. */
export function ServerAccounts({ server }: { server: string }) {
  const session = useSession();
  const { user, project } = session;
  if (project === null) return null;
  const managesProject = user !== null && may(session, "project.keys.write", project.id);
  return (
    <Card mb="md">
      <Title order={2} mb={4}>
        {t("Account")}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t("Calls have the token of a connected account, which is stored encrypted. Nobody can read it here.")}
      </Text>
      <Stack gap="sm">
        <ServerAccount
          server={server}
          owner="caller"
          label={user === null ? t("Account of {{project}}", { project: project.name }) : t("Your account")}
          users={user === null ? FOR_KEYS : FOR_PERSON}
        />
        {managesProject && (
          <ServerAccount
            server={server}
            owner="project"
            label={t("Account of {{project}}, for keys of no person", { project: project.name })}
            users={FOR_KEYS}
          />
        )}
      </Stack>
    </Card>
  );
}

const FOR_PERSON = msg("Only your calls use it: from the console, and with your keys.");
const FOR_KEYS = msg("Every key of the project that belongs to no person uses it.");

interface ServerAccountProps {
  server: string;
  owner: Owner;
  label: string;
  /** Whose calls have its token. */
  users: Message;
}

function ServerAccount({ server, owner, label, users }: ServerAccountProps) {
  const { data: connection, error } = useQuery(connectionQuery(server, owner));
  const connect = useAction(() => request<Answers["McpConnectionRequest"]>(pathOf(server, owner), { method: "POST" }), {
    onDone: ({ authorization_url: url }) => window.location.assign(url),
  });
  const disconnect = async () => {
    const { revoked } = await request<Answers["McpConnectionDeleted"]>(pathOf(server, owner), { method: "DELETE" });
    notifyDone(
      revoked
        ? t("Disconnected. The server revoked the tokens.")
        : t("Disconnected. Revoke the access at the server, too: it did not say that it did."),
    );
  };
  const failure = error ?? connect.error;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Stack gap={0}>
          <Group gap="xs">
            <Text fw={500}>{label}</Text>
            {connection !== undefined && <ConnectionStatus status={connection.status} />}
          </Group>
          <Text size="sm" c="dimmed">
            {connection === undefined ? " " : describe(connection)}
          </Text>
          <Text size="sm" c="dimmed">
            {t(users)}
          </Text>
        </Stack>
        <Group gap="xs">
          {connection !== undefined && connection.status !== "disconnected" && (
            <ConfirmButton
              question={t("Disconnect the account of {{server}}?", { server })}
              consequence={t("Its tokens are deleted and, where the server supports it, revoked.")}
              onConfirm={disconnect}
              changes={[MCP]}
            >
              {t("Disconnect")}
            </ConfirmButton>
          )}
          {connection !== undefined && (
            <Button
              size="compact-sm"
              variant={connection.status === "connected" ? "default" : "filled"}
              // The page is left afterwards.
              loading={connect.isPending || connect.isSuccess}
              onClick={() => connect.mutate()}
            >
              {connection.status === "disconnected" ? t("Connect") : t("Connect again")}
            </Button>
          )}
        </Group>
      </Group>
      <ErrorAlert error={failure} />
    </Stack>
  );
}

const STATUS = {
  connected: { color: "teal", word: msg("Connected") },
  expired: { color: "orange", word: msg("Ended") },
  disconnected: { color: "gray", word: msg("Not connected") },
};

function ConnectionStatus({ status }: Pick<Connection, "status">) {
  const { color, word } = STATUS[status];
  return (
    <Badge variant="dot" color={color} tt="none" fw={500} miw="max-content">
      {t(word)}
    </Badge>
  );
}

function describe({ status, connected_at: connectedAt, scopes, issuer }: Connection): string {
  if (status === "expired") return t("The server no longer accepts the account. Connect it again.");
  if (status === "disconnected") return t("You sign in at the server, and come back here.");
  const since = connectedAt === null ? "" : formatDate(connectedAt);
  const host = URL.parse(issuer ?? "")?.host ?? "";
  return scopes === null
    ? t("Since {{since}}, by {{host}}", { since, host })
    : t("Since {{since}}, by {{host}}, with {{scopes}}", { since, host, scopes: scopes.join(", ") });
}
