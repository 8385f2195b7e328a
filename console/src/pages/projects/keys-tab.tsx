import { Button, Card, Group, Modal, Stack, Table, TextInput } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Expiry } from "../../components/expiry.tsx";
import { formatAgo, formatNumber } from "../../components/format.ts";
import { NewKey } from "../../components/new-key.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { type ApiKey, createKey, keysQuery, type Project, pathOf } from "./projects-api.ts";

export function KeysTab({ project }: { project: Project }) {
  const query = useQuery(keysQuery(project.id));
  return <QueryView query={query}>{(keys) => <KeyList keys={keys} project={project} />}</QueryView>;
}

function KeyList({ keys, project }: { keys: ApiKey[]; project: Project }) {
  const client = useQueryClient();
  const [search, setSearch] = useState("");
  // The field shows each letter at once; the table follows.
  const wanted = useDeferredValue(search).trim().toLowerCase();
  const matching = useMemo(
    () => keys.filter(({ name, redacted_value }) => `${name} ${redacted_value}`.toLowerCase().includes(wanted)),
    [keys, wanted],
  );
  const create = async (name: string, expiresInSeconds: number | undefined) => {
    const secret = await createKey(project.id, { name, expiresInSeconds });
    await client.invalidateQueries({ queryKey: keysQuery(project.id).queryKey });
    return secret;
  };
  return (
    <Stack>
      <Group justify="space-between">
        <TextInput
          aria-label="Search keys"
          placeholder={`Search ${formatNumber(keys.length)} keys`}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        {project.status === "active" && (
          <NewKey
            label="New key"
            description="Names a service account, such as the program that will use the key."
            create={create}
            callsModels
          />
        )}
      </Group>
      <Card padding={0}>
        {matching.length === 0 ? (
          <Empty icon={<IconKey />} title={keys.length === 0 ? "No keys yet" : "No key matches"}>
            {keys.length === 0 && "Create a key to call the API for this project."}
          </Empty>
        ) : (
          <KeyTable keys={matching} project={project.id} />
        )}
      </Card>
    </Stack>
  );
}

const KeyTable = memo(function KeyTable({ keys, project }: { keys: ApiKey[]; project: string }) {
  const client = useQueryClient();
  const [limited, setLimited] = useState<ApiKey>();
  const keyPath = (id: string) => `${pathOf(project)}/api_keys/${encodeURIComponent(id)}`;
  const revoke = async (id: string) => {
    await request(keyPath(id), { method: "DELETE" });
    await client.invalidateQueries({ queryKey: keysQuery(project).queryKey });
  };
  return (
    <>
      <Table.ScrollContainer minWidth={700} tabIndex={0}>
        <Table aria-rowcount={keys.length + 1}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Key</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th>Expires</Table.Th>
              <Table.Th ta="right">Actions</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <VirtualBody rows={keys} columns={5} rowHeight={44} keyOf={({ id }) => id}>
            {(key) => (
              <>
                <Table.Td fw={500} className="wrap-anywhere">
                  {key.name}
                </Table.Td>
                <Table.Td ff="monospace" fz="xs">
                  {key.redacted_value}
                </Table.Td>
                <Table.Td className="nowrap">
                  {key.last_used_at === null ? "Never" : formatAgo(key.last_used_at)}
                </Table.Td>
                <Table.Td className="nowrap">
                  <Expiry at={key.expires_at} />
                </Table.Td>
                <Table.Td ta="right" className="nowrap">
                  <Button variant="subtle" size="compact-sm" onClick={() => setLimited(key)}>
                    Spend limit
                  </Button>
                  <ConfirmButton
                    question={`Revoke ${key.name}?`}
                    consequence="Programs that use this key get a 401 at once, and sessions signed in with it end. A revoked key cannot be restored."
                    onConfirm={() => revoke(key.id)}
                  >
                    Revoke
                  </ConfirmButton>
                </Table.Td>
              </>
            )}
          </VirtualBody>
        </Table>
      </Table.ScrollContainer>
      <Modal
        opened={limited !== undefined}
        onClose={() => setLimited(undefined)}
        title={`Spend limit of ${limited?.name}`}
      >
        {limited !== undefined && (
          <SpendForm owner={keyPath(limited.id)} name="This key" onSaved={() => setLimited(undefined)} />
        )}
      </Modal>
    </>
  );
});
