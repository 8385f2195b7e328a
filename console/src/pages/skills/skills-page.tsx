import { Button, Card } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { mayInProject, useSession } from "../../api/session.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDateTime } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { type Column, ResourceTable } from "../../components/resource-table.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { IconBulb, IconUpload } from "../../icons.tsx";
import { deleteSkill, downloadSkill, type Skill, setDefaultVersion, skillsQuery } from "./skills-api.ts";
import { UploadSkillDialog } from "./upload-skill-dialog.tsx";

/** Skills of the project, which containers of the code interpreter are created with. */
export function SkillsPage() {
  const session = useSession();
  const [uploads, setUploads] = useState<readonly File[]>();
  const mayWrite = mayInProject(session, "project.skills.write");
  const drop = useFileDrop(setUploads);
  const { project } = session;
  if (project === null) return <NeedsProjectKey />;
  return (
    <Page
      title={t("Skills")}
      description={t("Instructions and scripts of {{project}} that models read and run in containers.", {
        project: project.name,
      })}
      actions={
        mayWrite && (
          <Button leftSection={<IconUpload size={16} />} onClick={() => setUploads([])}>
            {t("New skill")}
          </Button>
        )
      }
    >
      <Card padding={0} {...(mayWrite && drop)}>
        <SkillTable mayWrite={mayWrite} />
      </Card>
      {uploads !== undefined && <UploadSkillDialog initial={uploads} onClose={() => setUploads(undefined)} />}
    </Page>
  );
}

function SkillTable({ mayWrite }: { mayWrite: boolean }) {
  const query = useQuery(skillsQuery);
  const [removed, setRemoved] = useState<Skill>();
  const [changed, setChanged] = useState<Skill>();
  const { mutate: download } = useSave({ save: downloadSkill });
  const { mutate: makeLatestDefault } = useSave({
    save: ({ id, latest_version: latest }: Skill) => setDefaultVersion(id, latest),
    done: ({ name, latest_version: version }) => t("{{name}}: version {{version}} is the default", { name, version }),
    changes: [skillsQuery.queryKey],
  });
  const actions = useMemo(
    () => (skill: Skill) => (
      <>
        <RowAction onClick={() => download(skill)}>{t("Download")}</RowAction>
        {mayWrite && <RowAction onClick={() => setChanged(skill)}>{t("New version")}</RowAction>}
        {mayWrite && skill.latest_version !== skill.default_version && (
          <RowAction onClick={() => makeLatestDefault(skill)}>{t("Use the latest version")}</RowAction>
        )}
        {mayWrite && (
          <RowAction isDestructive onClick={() => setRemoved(skill)}>
            {t("Delete")}
          </RowAction>
        )}
      </>
    ),
    [download, mayWrite, makeLatestDefault],
  );
  return (
    <>
      <ResourceTable
        isBare
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={760}
        columns={skillColumns()}
        actions={actions}
        empty={
          <Empty icon={<IconBulb />} title={t("No skills yet")}>
            {t("Drop a zip archive here whose SKILL.md says what the skill is for.")}
          </Empty>
        }
      />
      {changed !== undefined && <UploadSkillDialog skill={changed} onClose={() => setChanged(undefined)} />}
      {removed !== undefined && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          question={t("Delete {{name}}?", { name: removed.name })}
          consequence={t("All its versions are deleted, and requests that name it fail.")}
          action={t("Delete")}
          onConfirm={() => deleteSkill(removed.id)}
          done={t("{{name}} is deleted", { name: removed.name })}
          changes={[skillsQuery.queryKey]}
        />
      )}
    </>
  );
}

function skillColumns(): Column<Skill>[] {
  return [
    {
      label: t("Name"),
      className: "cell-name wrap-anywhere",
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (
        <>
          {name}
          <div className="cell-code cell-detail">{id}</div>
        </>
      ),
    },
    { label: t("Description"), className: "wrap-anywhere", cell: ({ description }) => description },
    {
      label: t("Version"),
      className: "nowrap",
      cell: ({ default_version: version, latest_version: latest }) =>
        version === latest ? version : t("{{version}} of {{latest}}", { version, latest }),
    },
    {
      label: t("Created"),
      className: "nowrap",
      sortBy: ({ created_at: time }) => time,
      hint: ({ created_at: time }) => formatDateTime(time),
      cell: ({ created_at: time }) => formatAgo(time),
    },
  ];
}
