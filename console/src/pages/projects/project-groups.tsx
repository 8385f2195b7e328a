import { NativeSelect, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { AddForm } from "../../components/add-form.tsx";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { groupsQuery } from "../people/people-queries.ts";
import { type Project, pathOf } from "./projects-api.ts";

type ProjectGroup = Answers["ProjectGroup"];

interface ProjectGroupsProps {
  project: Project;
  mayWrite: boolean;
  /** Names of the roles that members of the project can have. */
  roles: readonly string[];
}

/** Groups whose members are in a project, with their role there. */
export function ProjectGroups({ project, mayWrite, roles }: ProjectGroupsProps) {
  const path = `${pathOf(project.id)}/groups`;
  const queryKey = ["project", project.id, "groups"];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => listAll<ProjectGroup>(path, {}, signal) });
  const put = (body: { group_id: string; role: string }) => request(path, { method: "POST", body });
  const change = useSave({ save: put, changes: [queryKey] });
  const remove = ({ group_id, group_name, role }: ProjectGroup) =>
    changeWithUndo({
      message: t("{{name}} removed", { name: group_name }),
      change: () => request(`${path}/${encodeURIComponent(group_id)}`, { method: "DELETE" }),
      undo: () => put({ group_id, role }),
      changes: [queryKey],
    });
  const isEmpty = query.data?.length === 0;
  if (isEmpty && !mayWrite) return null;
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Groups")}</Title>
      {mayWrite && query.data !== undefined && (
        <AddGroup roles={roles} taken={query.data.map(({ group_id }) => group_id)} save={put} changes={[queryKey]} />
      )}
      {!isEmpty && (
        <ResourceTable
          query={query}
          rows={query.data}
          keyOf={({ group_id }) => group_id}
          empty={null}
          columns={[
            { label: t("Group"), className: "wrap-anywhere", cell: ({ group_name }) => group_name },
            {
              label: t("Role"),
              cell: ({ group_id, group_name, role }) =>
                mayWrite ? (
                  <NativeSelect
                    size="xs"
                    aria-label={t("Role of the group {{group}}", { group: group_name })}
                    value={role}
                    data={roles.includes(role) ? [...roles] : [...roles, role]}
                    onChange={(event) => change.mutate({ group_id, role: event.currentTarget.value })}
                  />
                ) : (
                  role
                ),
            },
          ]}
          actions={
            mayWrite &&
            ((group) => (
              <ConfirmButton
                question={t("Remove the group {{group}} from {{project}}?", {
                  group: group.group_name,
                  project: project.name,
                })}
                consequence={t(
                  "Its members lose what the group allows them here. Keys of members who may not call models any more stop working.",
                )}
                onConfirm={() => remove(group)}
              >
                {t("Remove")}
              </ConfirmButton>
            ))
          }
        />
      )}
    </Stack>
  );
}

interface AddGroupProps {
  roles: readonly string[];
  taken: readonly string[];
  save: (body: { group_id: string; role: string }) => Promise<unknown>;
  changes: readonly string[][];
}

function AddGroup({ roles, taken, save, changes }: AddGroupProps) {
  const session = useSession();
  const groups = useQuery({ ...groupsQuery, enabled: may(session, "organization.groups.read") });
  const free = (groups.data ?? []).filter(({ id }) => !taken.includes(id));
  if (free.length === 0) return null;
  return (
    <AddForm
      action={t("Add group")}
      initial={{ group_id: "", role: "member" }}
      isReady={({ group_id }) => group_id !== ""}
      save={save}
      changes={changes}
    >
      {(form) => (
        <>
          <NativeSelect
            aria-label={t("Group to add")}
            data={[
              { value: "", label: t("Choose a group") },
              ...free.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            {...form.getInputProps("group_id")}
          />
          <NativeSelect aria-label={t("Role of the group")} data={[...roles]} {...form.getInputProps("role")} />
        </>
      )}
    </AddForm>
  );
}
