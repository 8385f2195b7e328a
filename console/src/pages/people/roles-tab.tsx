import { Badge, Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { ACCESS, Permissions } from "./access-table.tsx";
import { ROLES, rolesPath, rolesQuery } from "./people-queries.ts";

type Role = Answers["Role"];

/** Built-in and custom roles of the organization, or of a project. */
export function RolesTab({ project }: { project?: string }) {
  const session = useSession();
  const query = useQuery(rolesQuery(project));
  const path = rolesPath(project);
  /** Null: a new one. */
  const [edited, setEdited] = useState<Role | null>();
  const mayWrite = may(session, `${project === undefined ? "organization" : "project"}.roles.write`, project);
  const owner = project === undefined ? "role_organization_owner" : "role_project_owner";
  return (
    <Stack>
      {mayWrite && (
        <Group justify="flex-end">
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setEdited(null)}>
            {t("New role")}
          </Button>
        </Group>
      )}
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={640}
        empty={null}
        columns={[
          {
            label: t("Role"),
            className: "wrap-anywhere",
            cell: (role) => (
              <>
                <Group gap="xs">
                  {role.name}
                  {role.predefined_role && <Badge variant="light">{t("built in")}</Badge>}
                </Group>
                <Text size="xs" c="dimmed">
                  {role.description}
                </Text>
              </>
            ),
          },
          { label: t("Allows"), maxWidth: 420, cell: ({ permissions }) => <Permissions names={permissions} /> },
        ]}
        actions={
          mayWrite &&
          ((role) =>
            !role.predefined_role && (
              <>
                <RowAction onClick={() => setEdited(role)}>{t("Edit")}</RowAction>
                <ConfirmButton
                  question={t("Delete the role {{name}}?", { name: role.name })}
                  consequence={t("Whoever has it loses what it allows.")}
                  onConfirm={() => request(`${path}/${encodeURIComponent(role.id)}`, { method: "DELETE" })}
                  changes={[ROLES]}
                >
                  {t("Delete")}
                </ConfirmButton>
              </>
            ))
        }
      />
      {edited !== undefined && (
        <RoleDialog
          role={edited}
          permissions={query.data?.find(({ id }) => id === owner)?.permissions ?? []}
          path={path}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Stack>
  );
}

interface RoleDialogProps {
  /** Null: a new one. */
  role: Role | null;
  /** All permissions that a role can have. */
  permissions: readonly string[];
  path: string;
  onClose: () => void;
}

/** Name and permissions of a custom role. */
function RoleDialog({ role, permissions, path, onClose }: RoleDialogProps) {
  return (
    <FormDialog
      title={role?.name ?? t("New role")}
      action={role === null ? t("Create role") : t("Save")}
      size="lg"
      onClose={onClose}
      initial={{
        name: role?.name ?? "",
        description: role?.description ?? "",
        permissions: role?.permissions ?? [],
      }}
      save={({ name, ...body }) =>
        request(role === null ? path : `${path}/${encodeURIComponent(role.id)}`, {
          method: "POST",
          body: { role_name: name, ...body },
        })
      }
      parameters={{ role_name: "name" }}
      changes={[ROLES, ACCESS]}
    >
      {(form) => (
        <>
          <TextInput label={t("Name")} data-autofocus required {...form.getInputProps("name")} />
          <TextInput label={t("Description")} {...form.getInputProps("description")} />
          <Checkbox.Group label={t("Permissions")} {...form.getInputProps("permissions")}>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={6} mt="xs">
              {permissions.map((permission) => (
                <Checkbox key={permission} value={permission} label={permission} size="xs" />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
        </>
      )}
    </FormDialog>
  );
}
