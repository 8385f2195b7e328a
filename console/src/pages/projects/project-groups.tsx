import { Button, Card, Group, NativeSelect, Stack, Table, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { groupsQuery } from "../people/people-queries.ts";
import { type Project, pathOf } from "./projects-api.ts";

interface ProjectGroupsProps {
  project: Project;
  mayWrite: boolean;
  /** Names of the roles that members of the project can have. */
  roles: readonly string[];
}

/** Groups whose members are in a project, with their role there. */
export function ProjectGroups({ project, mayWrite, roles }: ProjectGroupsProps) {
  const client = useQueryClient();
  const path = `${pathOf(project.id)}/groups`;
  const queryKey = ["project", project.id, "groups"];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => listAll<Answers["ProjectGroup"]>(path, {}, signal),
  });
  const refresh = () => client.invalidateQueries({ queryKey });
  const put = useMutation({
    mutationFn: (body: { group_id: string; role: string }) => request(path, { method: "POST", body }),
    onSettled: refresh,
  });
  return (
    <QueryView query={query}>
      {(groups) => {
        if (groups.length === 0 && !mayWrite) return null;
        return (
          <Stack gap="xs">
            <Title order={2}>{t("Groups")}</Title>
            <ErrorAlert error={put.error} />
            {mayWrite && (
              <AddGroup roles={roles} taken={groups.map(({ group_id }) => group_id)} add={(body) => put.mutate(body)} />
            )}
            {groups.length > 0 && (
              <Card padding={0}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t("Group")}</Table.Th>
                      <Table.Th>{t("Role")}</Table.Th>
                      {mayWrite && <Table.Th ta="right">{t("Actions")}</Table.Th>}
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {groups.map(({ group_id, group_name, role }) => (
                      <Table.Tr key={group_id}>
                        <Table.Td className="wrap-anywhere">{group_name}</Table.Td>
                        <Table.Td>
                          {mayWrite ? (
                            <NativeSelect
                              size="xs"
                              aria-label={t("Role of the group {{group}}", { group: group_name })}
                              value={role}
                              data={roles.includes(role) ? [...roles] : [...roles, role]}
                              onChange={(event) => put.mutate({ group_id, role: event.currentTarget.value })}
                            />
                          ) : (
                            role
                          )}
                        </Table.Td>
                        {mayWrite && (
                          <Table.Td ta="right">
                            <ConfirmButton
                              question={t("Remove the group {{group}} from {{project}}?", {
                                group: group_name,
                                project: project.name,
                              })}
                              consequence={t(
                                "Its members lose what the group allows them here. Keys of members who may not call models any more stop working.",
                              )}
                              onConfirm={() =>
                                changeWithUndo({
                                  message: t("{{name}} removed", { name: group_name }),
                                  change: () =>
                                    request(`${path}/${encodeURIComponent(group_id)}`, { method: "DELETE" }),
                                  undo: () => request(path, { method: "POST", body: { group_id, role } }),
                                  refresh,
                                })
                              }
                            >
                              {t("Remove")}
                            </ConfirmButton>
                          </Table.Td>
                        )}
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Card>
            )}
          </Stack>
        );
      }}
    </QueryView>
  );
}

interface AddGroupProps {
  roles: readonly string[];
  taken: readonly string[];
  add: (body: { group_id: string; role: string }) => void;
}

function AddGroup({ roles, taken, add }: AddGroupProps) {
  const session = useSession();
  const groups = useQuery({ ...groupsQuery, enabled: may(session, "organization.groups.read") });
  const form = useForm({ initialValues: { group_id: "", role: "member" } });
  const free = (groups.data ?? []).filter(({ id }) => !taken.includes(id));
  if (free.length === 0) return null;
  return (
    <form
      onSubmit={form.onSubmit((values) => {
        add(values);
        form.reset();
      })}
    >
      <Group>
        <NativeSelect
          aria-label={t("Group to add")}
          data={[
            { value: "", label: t("Choose a group") },
            ...free.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          {...form.getInputProps("group_id")}
        />
        <NativeSelect aria-label={t("Role of the group")} data={[...roles]} {...form.getInputProps("role")} />
        <Button type="submit" variant="default" disabled={form.values.group_id === ""}>
          {t("Add group")}
        </Button>
      </Group>
    </form>
  );
}
