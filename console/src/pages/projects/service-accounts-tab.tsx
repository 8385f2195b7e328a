import { Group, Stack, Switch, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { useEntries } from "../../api/use-entries.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatDate } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconRobot } from "../../icons.tsx";
import { KEYS } from "../keys/key-list.tsx";
import { SecretOnce } from "../keys/secret-once.tsx";
import { ACCOUNTS, accountPath, type Project, pathOf, type ServiceAccount } from "./projects-api.ts";
import { RenameButton } from "./rename-button.tsx";

/** Programs that call the API for a project; each has its own keys. */
export function ServiceAccountsTab({ project }: { project: Project }) {
  const path = `${pathOf(project.id)}/service_accounts`;
  const { query, entries } = useEntries<ServiceAccount>(ACCOUNTS, path, {});
  const isActive = project.status === "active";
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={560}>
          {t("A service account owns keys, such as those of one program. Deleting it revokes them together.")}
        </Text>
        {isActive && <NewAccount path={path} />}
      </Group>
      <ResourceTable
        query={query}
        rows={entries}
        keyOf={({ id }) => id}
        rowHeight={44}
        minWidth={560}
        empty={
          <Empty icon={<IconRobot />} title={t("No service accounts yet")}>
            {t("Create one for each program that calls the API.")}
          </Empty>
        }
        columns={[
          {
            label: t("Name"),
            className: "cell-name wrap-anywhere",
            cell: ({ id, name }) => (
              <Link
                to="/projects/$project/accounts/$account"
                params={{ project: project.id, account: id }}
                className="link"
              >
                {name}
              </Link>
            ),
          },
          { label: t("Id"), className: "cell-dimmed", cell: ({ id }) => id },
          { label: t("Created"), className: "nowrap", cell: ({ created_at: time }) => formatDate(time) },
        ]}
        actions={
          isActive && ((account) => <AccountActions account={account} path={accountPath(project.id, account.id)} />)
        }
      />
    </Stack>
  );
}

function AccountActions({ account: { name }, path }: { account: ServiceAccount; path: string }) {
  return (
    <>
      <RenameButton
        title={t("Rename service account")}
        name={name}
        rename={(next) => request(path, { method: "POST", body: { name: next } })}
        changes={[ACCOUNTS]}
      />
      <ConfirmButton
        question={t("Delete {{name}}?", { name })}
        consequence={t(
          "All its keys are revoked: programs that use them get a 401 at once. A deleted service account cannot be restored.",
        )}
        onConfirm={() => request(path, { method: "DELETE" })}
        changes={[ACCOUNTS, KEYS]}
      >
        {t("Delete")}
      </ConfirmButton>
    </>
  );
}

function NewAccount({ path }: { path: string }) {
  return (
    <DialogButton label={t("New service account")} leftSection={<IconPlus size={16} />}>
      {(close) => (
        <FormDialog
          title={t("New service account")}
          action={t("Create service account")}
          size="lg"
          onClose={close}
          initial={{ name: "", withKey: true }}
          save={({ name, withKey }) =>
            request<Answers["CreatedServiceAccount"]>(path, {
              method: "POST",
              body: { name, create_service_account_only: !withKey },
            })
          }
          changes={[ACCOUNTS, KEYS]}
          outcome={({ api_key: key }) => key && <SecretOnce secret={key.value} callsModels />}
        >
          {(form) => (
            <>
              <TextInput
                label={t("Name")}
                description={t("Names the program that will use its keys.")}
                data-autofocus
                required
                {...form.getInputProps("name")}
              />
              <Switch label={t("With a first key")} {...form.getInputProps("withKey", { type: "checkbox" })} />
            </>
          )}
        </FormDialog>
      )}
    </DialogButton>
  );
}
