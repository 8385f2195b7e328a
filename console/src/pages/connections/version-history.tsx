import { Button, Card, Code, Group, Modal, Stack, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { type Comparison, refreshConfiguration, VERSIONS, type Version } from "./connections-api.ts";

const ACTIONS = { change: "Change", restore: "Return to an earlier version", import: "Several entries" } as const;

/** Versions of the configuration, newest first: what each changed, and the way back. */
export function VersionHistory({ versions, mayChange }: { versions: readonly Version[]; mayChange: boolean }) {
  const [compared, setCompared] = useState<number>();
  const client = useQueryClient();
  if (versions.length === 0) return null;
  const restore = async (version: number) => {
    await request(`${VERSIONS}/${version}/restore`, { method: "POST" });
    notifyDone(`Version ${version} applies again`);
    await refreshConfiguration(client);
  };
  return (
    <Card padding={0}>
      <Title order={2} p="md" pb="xs">
        History
      </Title>
      <Table.ScrollContainer minWidth={640} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th>When</Table.Th>
              <Table.Th>Who</Table.Th>
              <Table.Th>What and why</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map(({ version, created_at, actor, action, reason }, index) => (
              <Table.Tr key={version}>
                <Table.Td>{version}</Table.Td>
                <Table.Td>{formatAgo(created_at)}</Table.Td>
                <Table.Td className="wrap-anywhere">{actor.user_id ?? actor.api_key_id ?? "operator"}</Table.Td>
                <Table.Td className="wrap-anywhere">{reason ?? ACTIONS[action]}</Table.Td>
                <Table.Td>
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      aria-label={`Compare version ${version}`}
                      onClick={() => setCompared(version)}
                    >
                      Compare
                    </Button>
                    {mayChange && (
                      <ConfirmButton
                        aria-label={index === 0 ? `Undo version ${version}` : `Restore version ${version}`}
                        question={index === 0 ? `Undo version ${version}?` : `Return to version ${version}?`}
                        consequence="It becomes a new version, which can be undone, too."
                        onConfirm={() => restore(index === 0 ? version - 1 : version)}
                      >
                        {index === 0 ? "Undo" : "Restore"}
                      </ConfirmButton>
                    )}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {compared !== undefined && <CompareVersion version={compared} close={() => setCompared(undefined)} />}
    </Card>
  );
}

function CompareVersion({ version, close }: { version: number; close: () => void }) {
  const query = useQuery({
    queryKey: ["configuration", "comparison", version],
    queryFn: ({ signal }) => request<Comparison>(`${VERSIONS}/${version}`, { signal }),
  });
  return (
    <Modal opened onClose={close} title={`Version ${version}`} size="xl">
      <QueryView query={query}>
        {({ from, changes }) => (
          <Stack>
            <Text size="sm" c="dimmed">
              Compared with version {from}
            </Text>
            {changes.map(({ kind, name, fields, before, after }) => (
              <div key={`${kind} ${name}`}>
                <Text fw={600} className="wrap-anywhere">
                  {kind} {name}: {before === null ? "added" : after === null ? "removed" : fields.join(", ")}
                </Text>
                <Group align="flex-start" grow gap="sm">
                  {[before, after].map((value, index) => (
                    <Code block key={index === 0 ? "before" : "after"}>
                      {value === null ? "–" : JSON.stringify(value, undefined, 2)}
                    </Code>
                  ))}
                </Group>
              </div>
            ))}
          </Stack>
        )}
      </QueryView>
    </Modal>
  );
}
