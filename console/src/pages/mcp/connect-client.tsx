import { Card, Tabs, Text, Title } from "@mantine/core";
import { CodeBlock } from "../../components/code-block.tsx";
import { t } from "../../i18n/translate.ts";
import { clientCode } from "./client-code.ts";

/** Code that connects MCP clients to all servers, or to one. */
export function ConnectClient({ server }: { server?: string }) {
  const clients = clientCode(server);
  return (
    <Card>
      <Title order={2} mb={4}>
        {t("Connect a client")}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {server === undefined
          ? t(
              "One address has the tools of all servers that the project may use, such as {{tool}}. The key is one of a project; servers never see it.",
              { tool: "wiki__search" },
            )
          : t(
              "This address has the tools of this server, by their plain names. The key is one of a project; servers never see it.",
            )}
      </Text>
      <Tabs defaultValue={clients[0]?.id ?? null} keepMounted={false}>
        <Tabs.List>
          {clients.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {clients.map(({ id, file, code }) => (
          <Tabs.Panel key={id} value={id} pt="sm">
            {file !== undefined && (
              <Text size="xs" c="dimmed" ff="monospace" mb={4}>
                {file}
              </Text>
            )}
            <CodeBlock text={code} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Card>
  );
}
