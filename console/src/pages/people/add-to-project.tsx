import { NativeSelect, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { AddForm } from "../../components/add-form.tsx";
import { t, translateLabels } from "../../i18n/translate.ts";
import { pathOf, projectsQuery } from "../projects/projects-api.ts";
import { ACCESS } from "./access-table.tsx";
import { USERS, type User } from "./people-queries.ts";
import { PROJECT_ROLES } from "./project-roles.ts";

/** Makes a user a member of a project in which the user has no role yet. */
export function AddToProject({ user }: { user: User }) {
  const session = useSession();
  const { data: projects = [] } = useQuery(projectsQuery(false));
  const taken = user.projects.data.map(({ id }) => id);
  const free = projects.filter(({ id }) => !taken.includes(id) && may(session, "project.members.write", id));
  if (free.length === 0) return null;
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Add to a project")}</Title>
      <AddForm
        action={t("Add")}
        initial={{ project: "", role: "member" }}
        isReady={({ project }) => project !== ""}
        save={({ project, role }) =>
          request(`${pathOf(project)}/users`, { method: "POST", body: { user_id: user.id, role } })
        }
        parameters={{ user_id: "project" }}
        changes={[USERS, ACCESS, ["project"]]}
      >
        {(form) => (
          <>
            <NativeSelect
              aria-label={t("Project")}
              data={[
                { value: "", label: t("Choose a project") },
                ...free.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              {...form.getInputProps("project")}
            />
            <NativeSelect
              aria-label={t("Role in the project")}
              data={translateLabels(PROJECT_ROLES)}
              {...form.getInputProps("role")}
            />
          </>
        )}
      </AddForm>
    </Stack>
  );
}
