import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, urlOf } from "../../api/request.ts";
import { IconPlus } from "../../icons.tsx";
import { projectsQuery } from "../projects/projects-api.ts";
import { LinkOnce } from "./link-once.tsx";
import { INVITES } from "./people-page.tsx";

const ROLES = [
  { value: "reader", label: "Reader: what the roles in projects allow" },
  { value: "member", label: "Member: sees people, creates projects" },
  { value: "owner", label: "Owner: everything" },
];
const PROJECT_ROLES = [
  { value: "member", label: "Member: calls models" },
  { value: "viewer", label: "Viewer: reads, changes nothing" },
  { value: "owner", label: "Owner: everything in the project" },
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
        Invite
      </Button>
      <Modal opened={isOpen} onClose={reset} title="Invite a person" size="lg">
        {invite.data === undefined ? (
          <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
            <Stack>
              <TextInput
                label="E-mail address"
                type="email"
                data-autofocus
                required
                {...form.getInputProps("email")}
                error={invite.error?.message}
              />
              <NativeSelect label="Role in the organization" data={ROLES} {...form.getInputProps("role")} />
              <NativeSelect
                label="Project"
                data={[
                  { value: "", label: "None yet" },
                  ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
                ]}
                {...form.getInputProps("project")}
              />
              {form.values.project !== "" && (
                <NativeSelect label="Role in the project" data={PROJECT_ROLES} {...form.getInputProps("projectRole")} />
              )}
              <Group justify="flex-end">
                <Button type="submit" loading={invite.isPending}>
                  Create invite
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <LinkOnce link={invite.data} title="Send this link: it is shown only once and works once" onDone={reset} />
        )}
      </Modal>
    </>
  );
}
