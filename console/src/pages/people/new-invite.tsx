import { NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { request, urlOf } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { msg, t, translateLabels } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { projectsQuery } from "../projects/projects-api.ts";
import { LinkOnce } from "./link-once.tsx";
import { INVITES } from "./people-queries.ts";
import { PROJECT_ROLES } from "./project-roles.ts";

const ROLES = [
  { value: "reader", label: msg("Reader: what the roles in projects allow") },
  { value: "member", label: msg("Member: sees people, creates projects") },
  { value: "owner", label: msg("Owner: everything") },
];

/** Button that invites a person, and shows the link once. */
export function NewInvite() {
  return (
    <DialogButton label={t("Invite")} leftSection={<IconPlus size={16} />}>
      {(close) => <InviteDialog onClose={close} />}
    </DialogButton>
  );
}

/** Asks for the address and the roles of a person. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { project: current } = useSession();
  const { data: projects = [], isPending } = useQuery(projectsQuery(false));
  // The form begins with a project, without which the person could not call models.
  if (isPending) return null;
  return (
    <FormDialog
      title={t("Invite a person")}
      action={t("Create invite")}
      size="lg"
      onClose={onClose}
      initial={{
        email: "",
        role: "reader",
        project: projects.find(({ id }) => id === current?.id)?.id ?? projects[0]?.id ?? "",
        projectRole: "member",
      }}
      save={({ email, role, project, projectRole }) =>
        request<{ token: string }>("v1/organization/invites", {
          method: "POST",
          body: { email, role, projects: project === "" ? [] : [{ id: project, role: projectRole }] },
        })
      }
      parameters={{ projects: "project" }}
      changes={[INVITES, ["first-steps"]]}
      outcome={({ token }) => (
        <LinkOnce
          link={`${urlOf("")}#/invite?token=${encodeURIComponent(token)}`}
          title={t("Send this link: it is shown only once and works once")}
        />
      )}
    >
      {(form) => (
        <>
          <TextInput
            label={t("E-mail address")}
            type="email"
            data-autofocus
            required
            {...form.getInputProps("email")}
          />
          <NativeSelect
            label={t("Role in the organization")}
            data={translateLabels(ROLES)}
            {...form.getInputProps("role")}
          />
          <NativeSelect
            label={t("Project")}
            {...(form.values.project === "" && {
              description: t("Without a project, the person cannot call models until somebody adds one."),
            })}
            data={[
              ...projects.map(({ id, name }) => ({ value: id, label: name })),
              { value: "", label: t("None yet") },
            ]}
            {...form.getInputProps("project")}
          />
          {form.values.project !== "" && (
            <NativeSelect
              label={t("Role in the project")}
              data={translateLabels(PROJECT_ROLES)}
              {...form.getInputProps("projectRole")}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
