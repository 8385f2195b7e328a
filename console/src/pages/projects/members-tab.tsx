import { NativeSelect, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { AddForm } from "../../components/add-form.tsx";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { rolesQuery } from "../people/people-queries.ts";
import { RolesTab } from "../people/roles-tab.tsx";
import { ProjectGroups } from "./project-groups.tsx";
import { type Project, pathOf } from "./projects-api.ts";

const BUILT_IN_ROLES = ["member", "viewer", "owner"];

type Member = Answers["ProjectUser"];

/** Users and groups of a project, with their roles. */
export function MembersTab({ project }: { project: Project }) {
  const session = useSession();
  const mayReadRoles = may(session, "project.roles.read", project.id);
  const custom = useQuery({ ...rolesQuery(project.id), enabled: mayReadRoles });
  const roles = [
    ...BUILT_IN_ROLES,
    ...(custom.data ?? []).flatMap(({ name, predefined_role }) => (predefined_role ? [] : [name])),
  ];
  const mayWrite = project.status === "active" && may(session, "project.members.write", project.id);
  return (
    <Stack>
      <Members project={project} mayWrite={mayWrite} roles={roles} />
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
  mayWrite: boolean;
  roles: readonly string[];
}

function Members({ project, mayWrite, roles }: MembersProps) {
  const path = `${pathOf(project.id)}/users`;
  const queryKey = ["project", project.id, "users"];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => listAll<Member>(path, {}, signal) });
  const pathOfMember = (id: string) => `${path}/${encodeURIComponent(id)}`;
  const change = useSave({
    save: ({ member, role }: { member: Member; role: string }) => {
      const assign = (next: string) => request(pathOfMember(member.id), { method: "POST", body: { role: next } });
      return changeWithUndo({
        message: t("{{name}} has the role {{role}}", { name: member.name, role }),
        change: () => assign(role),
        undo: () => assign(member.role),
        changes: [queryKey],
      });
    },
  });
  return (
    <>
      {mayWrite && (
        <AddForm
          action={t("Add")}
          initial={{ email: "", role: "member" }}
          save={(body) => request(path, { method: "POST", body })}
          changes={[queryKey]}
        >
          {(form) => (
            <>
              <TextInput
                aria-label={t("E-mail address of a user")}
                placeholder="name@example.com"
                type="email"
                required
                miw={280}
                {...form.getInputProps("email")}
              />
              <NativeSelect aria-label={t("Role in the project")} data={[...roles]} {...form.getInputProps("role")} />
            </>
          )}
        </AddForm>
      )}
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={<IconUsers />} title={t("No users yet")}>
            {t("Add a user of the organization by the e-mail address.")}
          </Empty>
        }
        columns={[
          {
            label: t("Name"),
            className: "wrap-anywhere",
            cell: ({ name, email }) => (
              <>
                {name}
                <Text size="xs" c="dimmed">
                  {email}
                </Text>
              </>
            ),
          },
          {
            label: t("Role"),
            cell: (member) =>
              mayWrite ? (
                <NativeSelect
                  size="xs"
                  aria-label={t("Role of {{name}}", { name: member.name })}
                  value={member.role}
                  data={roles.includes(member.role) ? [...roles] : [...roles, member.role]}
                  onChange={(event) => change.mutate({ member, role: event.currentTarget.value })}
                />
              ) : (
                member.role
              ),
          },
        ]}
        actions={
          mayWrite &&
          (({ id, name }) => (
            <ConfirmButton
              question={t("Remove {{name}} from {{project}}?", { name, project: project.name })}
              consequence={t("Keys of the user in this project are revoked. Usage stays.")}
              onConfirm={() => request(pathOfMember(id), { method: "DELETE" })}
              changes={[queryKey]}
            >
              {t("Remove")}
            </ConfirmButton>
          ))
        }
      />
    </>
  );
}
