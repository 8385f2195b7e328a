import { Badge, Button, Card, Group, Modal, Stack, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { ROLES, rolesPath, rolesQuery } from "./people-queries.ts";
import { RoleForm } from "./role-form.tsx";

type Role = Answers["Role"];

/** Built-in and custom roles of the organization, or of a project. */
export function RolesTab({ project }: { project?: string }) {
  const session = useSession();
  const query = useQuery(rolesQuery(project));
  const path = rolesPath(project);
  const [isOpen, { open, close }] = useDisclosure(false);
  const [edited, setEdited] = useState<Role>();
  const mayWrite = may(session, `${project === undefined ? "organization" : "project"}.roles.write`, project);
  const owner = project === undefined ? "role_organization_owner" : "role_project_owner";
  const show = (role: Role | undefined) => {
    setEdited(role);
    open();
  };
  return (
    <Stack>
      {mayWrite && (
        <Group justify="flex-end">
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => show(undefined)}>
            {t("New role")}
          </Button>
        </Group>
      )}
      <QueryView query={query}>
        {(roles) => (
          <>
            <RoleTable roles={roles} path={path} mayWrite={mayWrite} onEdit={show} />
            <Modal opened={isOpen} onClose={close} title={edited === undefined ? t("New role") : edited.name} size="lg">
              <RoleForm
                role={edited}
                permissions={roles.find(({ id }) => id === owner)?.permissions ?? []}
                path={path}
                onSaved={close}
              />
            </Modal>
          </>
        )}
      </QueryView>
    </Stack>
  );
}

interface RoleTableProps {
  roles: readonly Role[];
  path: string;
  mayWrite: boolean;
  onEdit: (role: Role) => void;
}

function RoleTable({ roles, path, mayWrite, onEdit }: RoleTableProps) {
  const client = useQueryClient();
  return (
    <Card padding={0}>
      <Table.ScrollContainer minWidth={640} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("Role")}</Table.Th>
              <Table.Th>{t("Allows")}</Table.Th>
              {mayWrite && <Table.Th ta="right">{t("Actions")}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {roles.map((role) => (
              <Table.Tr key={role.id}>
                <Table.Td className="wrap-anywhere">
                  <Group gap="xs">
                    {role.name}
                    {role.predefined_role && <Badge variant="light">{t("built in")}</Badge>}
                  </Group>
                  <Text size="xs" c="dimmed">
                    {role.description}
                  </Text>
                </Table.Td>
                <Table.Td maw={420}>
                  <Text size="xs" c="dimmed">
                    {role.permissions.join(", ") || t("Nothing by itself")}
                  </Text>
                </Table.Td>
                {mayWrite && (
                  <Table.Td ta="right">
                    {!role.predefined_role && (
                      <>
                        <RowAction onClick={() => onEdit(role)}>{t("Edit")}</RowAction>
                        <ConfirmButton
                          question={t("Delete the role {{name}}?", { name: role.name })}
                          consequence={t("Whoever has it loses what it allows.")}
                          onConfirm={async () => {
                            await request(`${path}/${encodeURIComponent(role.id)}`, { method: "DELETE" });
                            await client.invalidateQueries({ queryKey: ROLES });
                          }}
                        >
                          {t("Delete")}
                        </ConfirmButton>
                      </>
                    )}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
