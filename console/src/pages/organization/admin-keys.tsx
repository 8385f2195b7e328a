import { Card, Group, Stack, Table, Text } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { listAll, request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Expiry } from "../../components/expiry.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { NewKey } from "../../components/new-key.tsx";
import { QueryView } from "../../components/query-view.tsx";

interface AdminKey {
  id: string;
  name: string;
  redacted_value: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

const PATH = "v1/organization/admin_api_keys";

const adminKeysQuery = queryOptions({
  queryKey: ["admin-keys"],
  queryFn: ({ signal }) => listAll<AdminKey>(PATH, {}, signal),
});

export function AdminKeys() {
  const query = useQuery(adminKeysQuery);
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: adminKeysQuery.queryKey });
  const create = async (name: string, seconds: number | undefined) => {
    const body = { name, ...(seconds !== undefined && { expires_in_seconds: seconds }) };
    const { value } = await request<{ value: string }>(PATH, { method: "POST", body });
    await refresh();
    return value;
  };
  const revoke = async (id: string) => {
    await request(`${PATH}/${encodeURIComponent(id)}`, { method: "DELETE" });
    await refresh();
  };
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={560}>
          Admin keys manage projects, keys and limits and read usage. They do not call models.
        </Text>
        <NewKey
          label="New admin key"
          description="Names the person or program that will administer with it."
          create={create}
          callsModels={false}
        />
      </Group>
      <QueryView query={query}>
        {(keys) => (
          <Card padding={0}>
            <Table.ScrollContainer minWidth={700} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Key</Table.Th>
                    <Table.Th>Created</Table.Th>
                    <Table.Th>Last used</Table.Th>
                    <Table.Th>Expires</Table.Th>
                    <Table.Th ta="right">Actions</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {keys.map((key) => (
                    <Table.Tr key={key.id}>
                      <Table.Td fw={500} className="wrap-anywhere">
                        {key.name}
                      </Table.Td>
                      <Table.Td ff="monospace" fz="xs">
                        {key.redacted_value}
                      </Table.Td>
                      <Table.Td className="nowrap">{formatDate(key.created_at)}</Table.Td>
                      <Table.Td className="nowrap">
                        {key.last_used_at === null ? "Never" : formatAgo(key.last_used_at)}
                      </Table.Td>
                      <Table.Td className="nowrap">
                        <Expiry at={key.expires_at} />
                      </Table.Td>
                      <Table.Td ta="right">
                        <ConfirmButton
                          question={`Revoke ${key.name}?`}
                          consequence="Programs that use this key get a 401 at once, and sessions signed in with it end: yours too, if it is the key you signed in with. The last admin key can be replaced only on the machine itself, with `parlance keys`."
                          onConfirm={() => revoke(key.id)}
                        >
                          Revoke
                        </ConfirmButton>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </Card>
        )}
      </QueryView>
    </Stack>
  );
}
