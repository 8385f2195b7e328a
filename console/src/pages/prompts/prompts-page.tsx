import { Badge, Button, Card, Group, Modal, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconTemplate } from "../../icons.tsx";
import {
  createPrompt,
  mayWritePrompts,
  PRODUCTION,
  promptsQuery,
  refreshPrompts,
  type StoredPrompt,
} from "./prompts-api.ts";
import { VersionForm } from "./version-form.tsx";

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
      <QueryView query={query} loading="table">
        {(prompts) => (
          <Card padding={0}>
            {prompts.length === 0 ? (
              <Empty icon={<IconTemplate />} title={t("No prompts yet")}>
                {t(
                  "A prompt has messages with variables, a model and settings. Each change is a version, and moving the label production rolls it out or back.",
                )}
              </Empty>
            ) : (
              <PromptTable prompts={prompts} />
            )}
          </Card>
        )}
      </QueryView>
    </Page>
  );
}

function PromptTable({ prompts }: { prompts: readonly StoredPrompt[] }) {
  return (
    <Table.ScrollContainer minWidth={560} tabIndex={0}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Name")}</Table.Th>
            <Table.Th>{t("Labels")}</Table.Th>
            <Table.Th>{t("Newest version")}</Table.Th>
            <Table.Th>{t("Changed")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {prompts.map(({ id, name, description, labels, latest_version: latest, updated_at: time }) => (
            <Table.Tr key={id}>
              <Table.Td className="wrap-anywhere">
                <Link to="/prompts/$prompt" params={{ prompt: id }} className="link">
                  {name}
                </Link>
                {description !== null && (
                  <Text size="xs" c="dimmed">
                    {description}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <LabelBadges labels={Object.entries(labels).map(([label, version]) => `${label}: ${version}`)} />
              </Table.Td>
              <Table.Td className="tabular">{latest}</Table.Td>
              <Table.Td className="nowrap">{formatAgo(time)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
  const [isOpen, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {t("New prompt")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("New prompt")} size="xl">
        <VersionForm
          action={t("Create prompt")}
          hasName
          save={async ({ name, content }) => {
            const { id } = await createPrompt(name, content);
            close();
            await refreshPrompts(client);
            await navigate({ to: "/prompts/$prompt", params: { prompt: id } });
          }}
        />
      </Modal>
    </>
  );
}
