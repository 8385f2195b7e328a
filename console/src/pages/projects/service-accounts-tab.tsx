import { Button, Card, Group, Modal, Stack, Switch, Table, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { useEntries } from "../../api/use-entries.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatDate } from "../../components/format.ts";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconRobot } from "../../icons.tsx";
import { KEYS } from "../keys/key-list.tsx";
import { onceOnly, SecretOnce } from "../keys/secret-once.tsx";
import { ACCOUNTS, accountPath, type Project, pathOf, type ServiceAccount } from "./projects-api.ts";
import { RenameButton } from "./rename-button.tsx";

/** Programs that call the API for a project; each has its own keys. */
export function ServiceAccountsTab({ project }: { project: Project }) {
  const path = `${pathOf(project.id)}/service_accounts`;
  const { query, entries, readMore } = useEntries<ServiceAccount>(ACCOUNTS, path, {});
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={560}>
          {t("A service account owns keys, such as those of one program. Deleting it revokes them together.")}
        </Text>
        {project.status === "active" && <NewAccount project={project} />}
      </Group>
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading shape="table" />}
      {entries !== undefined && (
        <Card padding={0}>
          {entries.length === 0 ? (
            <Empty icon={<IconRobot />} title={t("No service accounts yet")}>
              {t("Create one for each program that calls the API.")}
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={560} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Name")}</Table.Th>
                    <Table.Th>{t("Id")}</Table.Th>
                    <Table.Th>{t("Created")}</Table.Th>
                    <Table.Th ta="right">{t("Actions")}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <VirtualBody rows={entries} columns={4} rowHeight={44} keyOf={({ id }) => id} onNearEnd={readMore}>
                  {(account) => <AccountCells account={account} project={project} />}
                </VirtualBody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Card>
      )}
    </Stack>
  );
}

function AccountCells({ account, project }: { account: ServiceAccount; project: Project }) {
  const client = useQueryClient();
  const path = accountPath(project.id, account.id);
  const refresh = () => client.invalidateQueries({ queryKey: ACCOUNTS });
  return (
    <>
      <Table.Td fw={500} className="wrap-anywhere">
        <Link
          to="/projects/$project/accounts/$account"
          params={{ project: project.id, account: account.id }}
          className="link"
        >
          {account.name}
        </Link>
      </Table.Td>
      <Table.Td c="dimmed">{account.id}</Table.Td>
      <Table.Td className="nowrap">{formatDate(account.created_at)}</Table.Td>
      <Table.Td ta="right" className="nowrap">
        {project.status === "active" && (
          <>
            <RenameButton
              title={t("Rename service account")}
              name={account.name}
              rename={(name) => request(path, { method: "POST", body: { name } })}
              onRenamed={refresh}
            />
            <ConfirmButton
              question={t("Delete {{name}}?", { name: account.name })}
              consequence={t(
                "All its keys are revoked: programs that use them get a 401 at once. A deleted service account cannot be restored.",
              )}
              onConfirm={async () => {
                await request(path, { method: "DELETE" });
                await Promise.all([refresh(), client.invalidateQueries({ queryKey: KEYS })]);
              }}
            >
              {t("Delete")}
            </ConfirmButton>
          </>
        )}
      </Table.Td>
    </>
  );
}

function NewAccount({ project }: { project: Project }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: "", withKey: true } });
  const create = useMutation({
    mutationFn: async ({ name, withKey }: typeof form.values) => {
      const path = `${pathOf(project.id)}/service_accounts`;
      const body = { name, create_service_account_only: !withKey };
      const created = await request<Answers["CreatedServiceAccount"]>(path, { method: "POST", body });
      await client.invalidateQueries({ queryKey: ACCOUNTS });
      await client.invalidateQueries({ queryKey: KEYS });
      return created.api_key?.value;
    },
    onSuccess: (secret) => secret === undefined && reset(),
  });
  const reset = () => {
    close();
    form.reset();
    create.reset();
  };
  const secret = create.data;
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {t("New service account")}
      </Button>
      <Modal
        opened={isOpen}
        onClose={reset}
        title={t("New service account")}
        size="lg"
        {...onceOnly(secret !== undefined)}
      >
        {secret === undefined ? (
          <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
            <Stack>
              <TextInput
                label={t("Name")}
                description={t("Names the program that will use its keys.")}
                data-autofocus
                required
                {...form.getInputProps("name")}
                error={create.error?.message}
              />
              <Switch label={t("With a first key")} {...form.getInputProps("withKey", { type: "checkbox" })} />
              <Group justify="flex-end">
                <Button type="submit" loading={create.isPending}>
                  {t("Create service account")}
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <Stack>
            <SecretOnce secret={secret} callsModels />
            <Group justify="flex-end">
              <Button onClick={reset}>{t("Done")}</Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}
