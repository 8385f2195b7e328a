import { Badge, Button, Card, Group, Modal, Select, Stack, Table, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { type ApiKey, createKey, keysQuery, type Project, pathOf } from "./projects-api.ts";

/** Rows drawn at first: ten thousand keys at once would take seconds. */
const ROWS = 100;

export function KeysTab({ project }: { project: Project }) {
  const query = useQuery(keysQuery(project.id));
  const [search, setSearch] = useState("");
  const [rows, setRows] = useState(ROWS);
  return (
    <QueryView query={query}>
      {(keys) => {
        const wanted = search.trim().toLowerCase();
        const matching = keys.filter(({ name, redacted_value }) =>
          `${name} ${redacted_value}`.toLowerCase().includes(wanted),
        );
        return (
          <Stack>
            <Group justify="space-between">
              <TextInput
                aria-label="Search keys"
                placeholder={`Search ${keys.length} keys`}
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
              />
              {project.status === "active" && <NewKey project={project.id} />}
            </Group>
            <Card padding={0}>
              {matching.length === 0 ? (
                <Empty icon={<IconKey />} title={keys.length === 0 ? "No keys yet" : "No key matches"}>
                  {keys.length === 0 && "Create a key to call the API for this project."}
                </Empty>
              ) : (
                <KeyTable keys={matching.slice(0, rows)} project={project.id} />
              )}
            </Card>
            {matching.length > rows && (
              <Group justify="center">
                <Button variant="default" onClick={() => setRows(rows + ROWS)}>
                  Show more of {matching.length}
                </Button>
              </Group>
            )}
          </Stack>
        );
      }}
    </QueryView>
  );
}

function KeyTable({ keys, project }: { keys: ApiKey[]; project: string }) {
  const client = useQueryClient();
  const revoke = async (id: string) => {
    await request(`${pathOf(project)}/api_keys/${encodeURIComponent(id)}`, { method: "DELETE" });
    await client.invalidateQueries({ queryKey: keysQuery(project).queryKey });
  };
  return (
    <Table.ScrollContainer minWidth={640} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Key</Table.Th>
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
              <Table.Td className="nowrap">
                {key.last_used_at === null ? "Never" : formatAgo(key.last_used_at)}
              </Table.Td>
              <Table.Td className="nowrap">
                <Expiry at={key.expires_at} />
              </Table.Td>
              <Table.Td ta="right">
                <ConfirmButton
                  question={`Revoke ${key.name}?`}
                  consequence="Programs that use this key get a 401 at once, and sessions signed in with it end. A revoked key cannot be restored."
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
  );
}

function Expiry({ at }: { at: number | null }) {
  if (at === null) return "Never";
  if (at * 1000 > Date.now()) return formatDate(at);
  return (
    <Badge color="gray" variant="light">
      expired
    </Badge>
  );
}

const EXPIRIES = [
  { value: "", label: "Never" },
  { value: "1", label: "In a day" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];

function NewKey({ project }: { project: string }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: "", expires: "" } });
  const create = useMutation({
    mutationFn: ({ name, expires }: { name: string; expires: string }) =>
      createKey(project, { name, expiresInDays: expires === "" ? undefined : Number(expires) }),
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery(project).queryKey }),
  });
  const reset = () => {
    close();
    form.reset();
    create.reset();
  };
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        New key
      </Button>
      <Modal opened={isOpen} onClose={reset} title="New key" size="lg" closeOnClickOutside={create.data === undefined}>
        {create.data === undefined ? (
          <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
            <Stack>
              <TextInput
                label="Name"
                description="Names a service account, such as the program that will use the key."
                data-autofocus
                required
                error={create.error?.message}
                {...form.getInputProps("name")}
              />
              <Select label="Expires" data={EXPIRIES} allowDeselect={false} {...form.getInputProps("expires")} />
              <Group justify="flex-end">
                <Button type="submit" loading={create.isPending}>
                  Create key
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <Stack>
            <SecretOnce secret={create.data} />
            <Group justify="flex-end">
              <Button onClick={reset}>Done</Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}
