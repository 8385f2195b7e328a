import { Button, Card, Group, NativeSelect, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { rolesQuery } from "../people/people-queries.ts";
import { RolesTab } from "../people/roles-tab.tsx";
import { ProjectGroups } from "./project-groups.tsx";
import { type Project, pathOf } from "./projects-api.ts";

const BUILT_IN_ROLES = ["member", "viewer", "owner"];

/** Users and groups of a project, with their roles. */
export function MembersTab({ project }: { project: Project }) {
  const session = useSession();
  const path = pathOf(project.id);
  const users = useQuery({
    queryKey: ["project", project.id, "users"],
    queryFn: ({ signal }) => listAll<Answers["ProjectUser"]>(`${path}/users`, {}, signal),
  });
  const mayReadRoles = may(session, "project.roles.read", project.id);
  const custom = useQuery({ ...rolesQuery(project.id), enabled: mayReadRoles });
  const roles = [
    ...BUILT_IN_ROLES,
    ...(custom.data ?? []).flatMap(({ name, predefined_role }) => (predefined_role ? [] : [name])),
  ];
  const mayWrite = project.status === "active" && may(session, "project.members.write", project.id);
  return (
    <Stack>
      {mayWrite && <AddMember project={project} roles={roles} />}
      <QueryView query={users}>
        {(members) => (
          <Card padding={0}>
            {members.length === 0 ? (
              <Empty icon={<IconUsers />} title={t("No users yet")}>
                {t("Add a user of the organization by the e-mail address.")}
              </Empty>
            ) : (
              <Members project={project} members={members} mayWrite={mayWrite} roles={roles} />
            )}
          </Card>
        )}
      </QueryView>
      <ProjectGroups project={project} mayWrite={mayWrite} roles={roles} />
      {mayReadRoles && (
        <Stack gap="xs">
          <Title order={2}>{t("Roles")}</Title>
          <RolesTab project={project.id} />
        </Stack>
      )}
    </Stack>
  );
}

interface MembersProps {
  project: Project;
  members: Answers["ProjectUser"][];
  mayWrite: boolean;
  roles: readonly string[];
}

function Members({ project, members, mayWrite, roles }: MembersProps) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["project", project.id, "users"] });
  const pathOfMember = (id: string) => `${pathOf(project.id)}/users/${encodeURIComponent(id)}`;
  const change = useMutation({
    mutationFn: ({ id, name, role, previous }: { id: string; name: string; role: string; previous: string }) => {
      const assign = (next: string) => request(pathOfMember(id), { method: "POST", body: { role: next } });
      const message = t("{{name}} has the role {{role}}", { name, role });
      return changeWithUndo({ message, change: () => assign(role), undo: () => assign(previous), refresh });
    },
  });
  return (
    <Table.ScrollContainer minWidth={560} tabIndex={0}>
      <ErrorAlert error={change.error} />
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Name")}</Table.Th>
            <Table.Th>{t("Role")}</Table.Th>
            {mayWrite && <Table.Th ta="right">{t("Actions")}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map(({ id, name, email, role }) => (
            <Table.Tr key={id}>
              <Table.Td className="wrap-anywhere">
                {name}
                <Text size="xs" c="dimmed">
                  {email}
                </Text>
              </Table.Td>
              <Table.Td>
                {mayWrite ? (
                  <NativeSelect
                    size="xs"
                    aria-label={t("Role of {{name}}", { name })}
                    value={role}
                    data={roles.includes(role) ? [...roles] : [...roles, role]}
                    onChange={(event) => change.mutate({ id, name, role: event.currentTarget.value, previous: role })}
                  />
                ) : (
                  role
                )}
              </Table.Td>
              {mayWrite && (
                <Table.Td ta="right">
                  <ConfirmButton
                    question={t("Remove {{name}} from {{project}}?", { name, project: project.name })}
                    consequence={t("Keys of the user in this project are revoked. Usage stays.")}
                    onConfirm={async () => {
                      await request(pathOfMember(id), { method: "DELETE" });
                      await refresh();
                    }}
                  >
                    {t("Remove")}
                  </ConfirmButton>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function AddMember({ project, roles }: { project: Project; roles: readonly string[] }) {
  const client = useQueryClient();
  const form = useForm({ initialValues: { email: "", role: "member" } });
  const add = useMutation({
    mutationFn: (body: typeof form.values) => request(`${pathOf(project.id)}/users`, { method: "POST", body }),
    onSuccess: async () => {
      form.reset();
      await client.invalidateQueries({ queryKey: ["project", project.id, "users"] });
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <Group align="flex-start">
        <TextInput
          aria-label={t("E-mail address of a user")}
          placeholder="name@example.com"
          type="email"
          required
          miw={280}
          {...form.getInputProps("email")}
          error={add.error?.message}
        />
        <NativeSelect aria-label={t("Role in the project")} data={[...roles]} {...form.getInputProps("role")} />
        <Button type="submit" loading={add.isPending}>
          {t("Add")}
        </Button>
      </Group>
    </form>
  );
}
