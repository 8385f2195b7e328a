import { Button, Group, Modal, Tabs, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { KeysTab } from "./keys-tab.tsx";
import { LimitsTab } from "./limits-tab.tsx";
import { ModelsTab } from "./models-tab.tsx";
import { ModerationTab } from "./moderation-tab.tsx";
import { type Project, pathOf, projectQuery } from "./projects-api.ts";

export function ProjectPage() {
  const { project: id } = useParams({ strict: false }) as { project: string };
  const query = useQuery(projectQuery(id));
  return <QueryView query={query}>{(project) => <ProjectContent project={project} />}</QueryView>;
}

function ProjectContent({ project }: { project: Project }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const archive = async () => {
    await request(`${pathOf(project.id)}/archive`, { method: "POST" });
    await client.invalidateQueries({ queryKey: ["projects"] });
    await navigate({ to: "/projects" });
  };
  return (
    <Page
      title={project.name}
      description={
        <>
          <Link to="/projects" className="link">
            Projects
          </Link>{" "}
          / {project.id}
        </>
      }
      actions={
        project.status === "active" && (
          <Group gap="xs">
            <Rename project={project} />
            <ConfirmButton
              question={`Archive ${project.name}?`}
              consequence="All its keys stop working at once. An archived project cannot be restored; its usage stays."
              onConfirm={archive}
            >
              Archive
            </ConfirmButton>
          </Group>
        )
      }
    >
      <Tabs defaultValue="keys" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">Keys</Tabs.Tab>
          <Tabs.Tab value="limits">Limits</Tabs.Tab>
          <Tabs.Tab value="models">Models</Tabs.Tab>
          <Tabs.Tab value="moderation">Moderation</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <KeysTab project={project} />
        </Tabs.Panel>
        <Tabs.Panel value="limits">
          <LimitsTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <ModelsTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="moderation">
          <ModerationTab project={project.id} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Rename({ project }: { project: Project }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: project.name } });
  const rename = useMutation({
    mutationFn: (name: string) => request(pathOf(project.id), { method: "POST", body: { name } }),
    onSuccess: async () => {
      close();
      await client.invalidateQueries({ queryKey: ["project", project.id] });
      await client.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={open}>
        Rename
      </Button>
      <Modal opened={isOpen} onClose={close} title="Rename project">
        <form onSubmit={form.onSubmit(({ name }) => rename.mutate(name))}>
          <TextInput
            label="Name"
            data-autofocus
            required
            error={rename.error?.message}
            {...form.getInputProps("name")}
          />
          <Group justify="flex-end" mt="lg">
            <Button type="submit" loading={rename.isPending}>
              Rename
            </Button>
          </Group>
        </form>
      </Modal>
    </>
  );
}
