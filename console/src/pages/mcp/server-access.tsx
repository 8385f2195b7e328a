import { Badge, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { formatBytes, formatPrice, formatSeconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconLock } from "../../icons.tsx";
import { projectsQuery } from "../projects/projects-api.ts";
import type { McpServer } from "./mcp-api.ts";

type Settings = NonNullable<McpServer["settings"]>;

/** Who may use which tools of a server, and its other settings. */
export function ServerAccess({ server, isInFile }: { server: McpServer; isInFile: boolean }) {
  const { settings } = server;
  if (settings === undefined) return null;
  return (
    <Stack gap="md">
      {isInFile && (
        <Group gap={6} wrap="nowrap">
          <IconLock size={15} style={{ flexShrink: 0 }} />
          <Text size="sm" c="dimmed">
            <Trans
              text="Set in parlance.yaml, under <code>mcp_servers</code>: change the file and reload it."
              tags={{ code: <code /> }}
            />
          </Text>
        </Group>
      )}
      <AccessCard access={settings.access} />
      <ResourceTable
        title={t("Settings")}
        isHeadless
        rows={rowsOf(server, settings)}
        keyOf={([label]) => label}
        minWidth={320}
        empty={null}
        columns={[
          { label: t("Setting"), className: "setting-name", cell: ([label]) => label },
          { label: t("Value"), className: "wrap-anywhere", cell: ([, value]) => value },
        ]}
      />
    </Stack>
  );
}

function AccessCard({ access }: Pick<Settings, "access">) {
  const { data: projects = [] } = useQuery(projectsQuery(true));
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <ResourceTable
      title={t("Access")}
      // Entries have no names.
      rows={access.map((entry, index) => ({ ...entry, key: String(index) }))}
      keyOf={({ key }) => key}
      minWidth={320}
      empty={null}
      columns={[
        {
          label: t("Projects"),
          cell: (entry) => <Names all={t("Every project")} names={entry.projects?.map((id) => names.get(id) ?? id)} />,
        },
        { label: t("Tools"), cell: ({ tools }) => <Names all={t("All tools")} names={tools ?? undefined} /> },
      ]}
    />
  );
}

function Names({ all, names }: { all: string; names: readonly string[] | undefined }) {
  if (names === undefined) return <Text size="sm">{all}</Text>;
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} variant="light" color="gray" tt="none" c="var(--mantine-color-text)">
          {name}
        </Badge>
      ))}
    </Group>
  );
}

function rowsOf(server: McpServer, settings: Settings): [label: string, value: string][] {
  const { require_approval: approval, caller_authorization: token } = server;
  const { url, openapi, command, headers, prices, price_per_call: price } = settings;
  const priced = Object.entries(prices).map(([tool, dollars]) => `${tool}: ${formatPrice(dollars)}`);
  return [
    ...(command === null ? [] : [[t("Program"), command] as [string, string]]),
    ...(url === null ? [] : [[t("Address"), url] as [string, string]]),
    ...(openapi === null ? [] : [[t("OpenAPI document"), openapi] as [string, string]]),
    ...(headers.length === 0 ? [] : [[t("Headers of each request"), headers.join(", ")] as [string, string]]),
    [t("Approval of calls"), approval === "always" ? t("Always") : t("As the request says")],
    [t("Token of the caller"), token ? t("Passed on") : t("Refused")],
    [t("Price of a call"), [price === null ? t("None") : formatPrice(price), ...priced].join(", ")],
    [t("Time of a call"), t("At most {{time}}", { time: formatSeconds(settings.timeout_seconds) })],
    [t("Size of a result"), t("At most {{size}}", { size: formatBytes(settings.max_result_bytes) })],
  ];
}
