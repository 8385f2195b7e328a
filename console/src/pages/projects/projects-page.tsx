import { Badge, Button, Card, Group, Modal, Switch, Table } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatDate } from "../../components/format.ts";
import { NameForm } from "../../components/name-form.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { WeekCell } from "../../components/week-cell.tsx";
import { t } from "../../i18n/translate.ts";
import { IconFolder, IconPlus } from "../../icons.tsx";
import { useWeekUsage } from "../usage/week-usage.ts";
import { createProject, projectsQuery } from "./projects-api.ts";

export function ProjectsPage() {
  const session = useSession();
  const [{ archived }, setAddress] = useAddressState({ archived: "no" });
  const showsArchived = archived === "yes";
  const query = useQuery(projectsQuery(showsArchived));
  const week = useWeekUsage("project_id");
  return (
    <Page
      title={t("Projects")}
      description={t("A project has its own keys, limits, models and usage.")}
      actions={
        <>
          <Switch
            label={t("Archived")}
            checked={showsArchived}
            onChange={(event) => setAddress({ archived: event.currentTarget.checked ? "yes" : "no" })}
          />
          {may(session, "organization.projects.write") && <NewProject />}
        </>
      }
    >
      <QueryView query={query} loading="table">
        {(projects) => (
          <Card padding={0}>
            {projects.length === 0 ? (
              <Empty icon={<IconFolder />} title={t("No projects")} />
            ) : (
              <Table.ScrollContainer minWidth={640} tabIndex={0}>
                <Table highlightOnHover>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t("Name")}</Table.Th>
                      <Table.Th>{t("Id")}</Table.Th>
                      <Table.Th>{t("Created")}</Table.Th>
                      <Table.Th>{t("Requests, 7 days")}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {projects.map((project) => (
                      <Table.Tr key={project.id}>
                        <Table.Td fw={500} className="wrap-anywhere">
                          <Group gap="xs">
                            <Link to="/projects/$project" params={{ project: project.id }} className="link">
                              {project.name}
                            </Link>
                            {project.status === "archived" && (
                              <Badge color="gray" variant="light">
                                {t("archived")}
                              </Badge>
                            )}
                          </Group>
                        </Table.Td>
                        <Table.Td c="dimmed">{project.id}</Table.Td>
                        <Table.Td className="nowrap">{formatDate(project.created_at)}</Table.Td>
                        <Table.Td>
                          <WeekCell values={week.data?.get(project.id)} />
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            )}
          </Card>
        )}
      </QueryView>
    </Page>
  );
}

function NewProject() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = async (name: string) => {
    const project = await createProject(name);
    close();
    await client.invalidateQueries({ queryKey: ["projects"] });
    await navigate({ to: "/projects/$project", params: { project: project.id } });
  };
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {t("New project")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("New project")}>
        <NameForm action={t("Create project")} save={create} />
      </Modal>
    </>
  );
}
