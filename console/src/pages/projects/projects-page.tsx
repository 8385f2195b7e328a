import { Badge, Group, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { may, useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatDate } from "../../components/format.ts";
import { NameDialog } from "../../components/name-dialog.tsx";
import { Page } from "../../components/page.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
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
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={640}
        empty={<Empty icon={<IconFolder />} title={t("No projects")} />}
        columns={[
          {
            label: t("Name"),
            className: "cell-name wrap-anywhere",
            sortBy: ({ name }) => name,
            cell: ({ id, name, status }) => (
              <Group gap="xs">
                <Link to="/projects/$project" params={{ project: id }} className="link">
                  {name}
                </Link>
                {status === "archived" && (
                  <Badge color="gray" variant="light">
                    {t("archived")}
                  </Badge>
                )}
              </Group>
            ),
          },
          { label: t("Id"), className: "cell-dimmed", cell: ({ id }) => id },
          {
            label: t("Created"),
            className: "nowrap",
            sortBy: ({ created_at: time }) => time,
            cell: ({ created_at: time }) => formatDate(time),
          },
          { label: t("Requests, 7 days"), cell: ({ id }) => <WeekCell values={week.data?.get(id)} /> },
        ]}
      />
    </Page>
  );
}

function NewProject() {
  const navigate = useNavigate();
  return (
    <DialogButton label={t("New project")} leftSection={<IconPlus size={16} />}>
      {(close) => (
        <NameDialog
          title={t("New project")}
          action={t("Create project")}
          save={createProject}
          changes={[["projects"]]}
          onSaved={({ id }) => void navigate({ to: "/projects/$project", params: { project: id } })}
          onClose={close}
        />
      )}
    </DialogButton>
  );
}
