import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, urlOf } from "../../api/request.ts";
import { msg, t, translateLabels } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { projectsQuery } from "../projects/projects-api.ts";
import { LinkOnce } from "./link-once.tsx";
import { INVITES } from "./people-page.tsx";

const ROLES = [
  { value: "reader", label: msg("Reader: what the roles in projects allow") },
  { value: "member", label: msg("Member: sees people, creates projects") },
  { value: "owner", label: msg("Owner: everything") },
];
const PROJECT_ROLES = [
  { value: "member", label: msg("Member: calls models") },
  { value: "viewer", label: msg("Viewer: reads, changes nothing") },
  { value: "owner", label: msg("Owner: everything in the project") },
];

/** Invites a person, and shows the link once. */
export function NewInvite() {
  const client = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure(false);
  const projects = useQuery({ ...projectsQuery(false), enabled: isOpen });
  const form = useForm({ initialValues: { email: "", role: "reader", project: "", projectRole: "member" } });
  const invite = useMutation({
    mutationFn: async ({ email, role, project, projectRole }: typeof form.values) => {
      const body = { email, role, projects: project === "" ? [] : [{ id: project, role: projectRole }] };
      const { token } = await request<{ token: string }>("v1/organization/invites", { method: "POST", body });
      await client.invalidateQueries({ queryKey: INVITES });
      return `${urlOf("")}#/invite?token=${encodeURIComponent(token)}`;
    },
  });
  const reset = () => {
    close();
    form.reset();
    invite.reset();
  };
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {t("Invite")}
      </Button>
      <Modal opened={isOpen} onClose={reset} title={t("Invite a person")} size="lg">
        {invite.data === undefined ? (
          <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
            <Stack>
              <TextInput
                label={t("E-mail address")}
                type="email"
                data-autofocus
                required
                {...form.getInputProps("email")}
                error={invite.error?.message}
              />
              <NativeSelect
                label={t("Role in the organization")}
                data={translateLabels(ROLES)}
                {...form.getInputProps("role")}
              />
              <NativeSelect
                label={t("Project")}
                data={[
                  { value: "", label: t("None yet") },
                  ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
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
              <Group justify="flex-end">
                <Button type="submit" loading={invite.isPending}>
                  {t("Create invite")}
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <LinkOnce
            link={invite.data}
            title={t("Send this link: it is shown only once and works once")}
            onDone={reset}
          />
        )}
      </Modal>
    </>
  );
}
