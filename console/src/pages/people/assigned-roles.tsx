import { Button, Card, Group, NativeSelect, Stack, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { ACCESS } from "./access-table.tsx";
import { USERS } from "./people-page.tsx";
import { rolesQuery } from "./people-queries.ts";

interface AssignedRolesProps {
  of: "users" | "groups";
  id: string;
  mayWrite: boolean;
}

/** Roles that a user or group has in the organization, to assign and to take away. */
export function AssignedRoles({ of, id, mayWrite }: AssignedRolesProps) {
  const client = useQueryClient();
  const path = `v1/organization/${of}/${encodeURIComponent(id)}/roles`;
  const queryKey = ["assigned-roles", of, id];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => listAll<Answers["AssignedRole"]>(path, {}, signal),
  });
  const refresh = () =>
    Promise.all([queryKey, ACCESS, USERS].map((each) => client.invalidateQueries({ queryKey: each })));
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Roles in the organization")}</Title>
      <QueryView query={query}>
        {(roles) => (
          <>
            <Card padding={0}>
              <Table.ScrollContainer minWidth={480} tabIndex={0}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t("Role")}</Table.Th>
                      <Table.Th>{t("Allows")}</Table.Th>
                      {mayWrite && <Table.Th ta="right">{t("Actions")}</Table.Th>}
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {roles.length === 0 && (
                      <Table.Tr>
                        <Table.Td colSpan={mayWrite ? 3 : 2}>
                          <Text size="sm" c="dimmed">
                            {t("None. Roles in projects are on the pages of the projects.")}
                          </Text>
                        </Table.Td>
                      </Table.Tr>
                    )}
                    {roles.map((role) => (
                      <Table.Tr key={role.id}>
                        <Table.Td className="wrap-anywhere">{role.name}</Table.Td>
                        <Table.Td>
                          <Text size="xs" c="dimmed">
                            {role.permissions.join(", ") || t("Nothing by itself")}
                          </Text>
                        </Table.Td>
                        {mayWrite && (
                          <Table.Td ta="right">
                            {isOwn(role, id) && !(of === "users" && role.predefined_role) && (
                              <ConfirmButton
                                question={t("Take the role {{name}} away?", { name: role.name })}
                                consequence={t("What it allows is gone within a second.")}
                                onConfirm={() =>
                                  changeWithUndo({
                                    message: t("Role {{name}} taken away", { name: role.name }),
                                    change: () =>
                                      request(`${path}/${encodeURIComponent(role.id)}`, { method: "DELETE" }),
                                    undo: () => request(path, { method: "POST", body: { role_id: role.id } }),
                                    refresh,
                                  })
                                }
                              >
                                {t("Take away")}
                              </ConfirmButton>
                            )}
                          </Table.Td>
                        )}
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            </Card>
            {mayWrite && <Assign path={path} taken={roles.map((role) => role.id)} of={of} onAssigned={refresh} />}
          </>
        )}
      </QueryView>
    </Stack>
  );
}

/** Roles from groups can only be taken from the group. */
function isOwn({ assignment_sources: sources }: Answers["AssignedRole"], id: string): boolean {
  return sources.length === 0 || sources.some(({ principal_id }) => principal_id === id);
}

interface AssignProps {
  path: string;
  taken: readonly string[];
  of: "users" | "groups";
  onAssigned: () => Promise<unknown>;
}

function Assign({ path, taken, of, onAssigned }: AssignProps) {
  const roles = useQuery(rolesQuery());
  const [chosen, setChosen] = useState("");
  const assign = useMutation({
    mutationFn: (role: string) => request(path, { method: "POST", body: { role_id: role } }),
    onSuccess: async () => {
      setChosen("");
      await onAssigned();
    },
  });
  // A user has one built-in role, which the page's head changes.
  const free = (roles.data ?? []).filter(
    ({ id, predefined_role }) => !taken.includes(id) && !(of === "users" && predefined_role),
  );
  if (free.length === 0) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== "") assign.mutate(chosen);
      }}
    >
      <ErrorAlert error={assign.error} />
      <Group>
        <NativeSelect
          aria-label={t("Role to assign")}
          value={chosen}
          data={[{ value: "", label: t("Choose a role") }, ...free.map(({ id, name }) => ({ value: id, label: name }))]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={chosen === ""} loading={assign.isPending}>
          {t("Assign")}
        </Button>
      </Group>
    </form>
  );
}
