import { Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconTemplate } from "../../icons.tsx";
import { createPrompt, mayWritePrompts, PRODUCTION, promptsQuery } from "./prompts-api.ts";
import { VersionDialog } from "./version-dialog.tsx";

/** Stored prompts of the session's project. */
export function PromptsPage() {
  const session = useSession();
  const query = useQuery({ ...promptsQuery, enabled: session.project !== null });
  if (session.project === null) return <NeedsProjectKey />;
  return (
    <Page
      title={t("Prompts")}
      description={t("Templates outside of your code. A request names one; a label says which version it gets.")}
      actions={mayWritePrompts(session) && <NewPrompt />}
    >
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={560}
        empty={
          <Empty icon={<IconTemplate />} title={t("No prompts yet")}>
            {t(
              "A prompt has messages with variables, a model and settings. Each change is a version, and moving the label production rolls it out or back.",
            )}
          </Empty>
        }
        columns={[
          {
            label: t("Name"),
            className: "wrap-anywhere",
            sortBy: ({ name }) => name,
            cell: ({ id, name, description }) => (
              <>
                <Link to="/prompts/$prompt" params={{ prompt: id }} className="link">
                  {name}
                </Link>
                {description !== null && (
                  <Text size="xs" c="dimmed">
                    {description}
                  </Text>
                )}
              </>
            ),
          },
          {
            label: t("Labels"),
            cell: ({ labels }) => (
              <LabelBadges labels={Object.entries(labels).map(([label, version]) => `${label}: ${version}`)} />
            ),
          },
          { label: t("Newest version"), className: "tabular", cell: ({ latest_version: latest }) => latest },
          {
            label: t("Changed"),
            className: "nowrap",
            sortBy: ({ updated_at: time }) => time,
            cell: ({ updated_at: time }) => formatAgo(time),
          },
        ]}
      />
    </Page>
  );
}

export function LabelBadges({ labels }: { labels: readonly string[] }) {
  return (
    <Group gap={4}>
      {labels.map((label) => (
        <Badge
          key={label}
          variant="light"
          tt="none"
          color={label.startsWith(PRODUCTION) ? "pine" : "gray"}
          c="var(--mantine-color-text)"
        >
          {label}
        </Badge>
      ))}
    </Group>
  );
}

function NewPrompt() {
  const navigate = useNavigate();
  return (
    <DialogButton label={t("New prompt")} leftSection={<IconPlus size={16} />}>
      {(close) => (
        <VersionDialog
          title={t("New prompt")}
          action={t("Create prompt")}
          hasName
          onClose={close}
          save={async ({ name, content }) => {
            const { id } = await createPrompt(name, content);
            return () => void navigate({ to: "/prompts/$prompt", params: { prompt: id } });
          }}
        />
      )}
    </DialogButton>
  );
}
