import { Alert, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { chooseProject, useSession } from "../../../api/session.ts";
import { Empty } from "../../../components/empty.tsx";
import { formatAgo } from "../../../components/format.ts";
import { type Artifact, OpenArtifact } from "../../../components/markdown/artifact.ts";
import { Page } from "../../../components/page.tsx";
import { QueryView } from "../../../components/query-view.tsx";
import { useAction } from "../../../components/use-action.ts";
import { t } from "../../../i18n/translate.ts";
import { IconShare } from "../../../icons.tsx";
import { AnswerView } from "../answers/answer-view.tsx";
import { ArtifactSide } from "../artifacts/artifact-side.tsx";
import { chatStore } from "../chat-store.ts";
import { type Conversation, NO_PARAMETERS, newConversation, type Turn } from "../conversation.ts";
import { Question } from "../question-view.tsx";
import { SavedChatsApi } from "../saved-chats-api.ts";
import { parseConversation } from "../stored-conversations.ts";

/** A copy of a conversation that somebody shares with the members of the project. */
export function SharedPage() {
  const { id = "", project: linked } = useSearch({ strict: false }) as { id?: string; project?: string };
  const session = useSession();
  const project = linked ?? session.project?.id ?? "";
  if (project !== session.project?.id) return <OtherProject project={project} />;
  return <SharedChat id={id} project={project} />;
}

/** Asks before the session calls models in another project. */
function OtherProject({ project }: { project: string }) {
  const { projects } = useSession();
  const client = useQueryClient();
  const choose = useAction(() => chooseProject(client, project));
  const name = projects.find(({ id }) => id === project)?.name;
  if (name === undefined) {
    return (
      <Empty icon={<IconShare />} title={t("This conversation belongs to a project that you are not in")}>
        {t("Ask the person who sent you the link, or an administrator, to add you to the project.")}
      </Empty>
    );
  }
  return (
    <Empty icon={<IconShare />} title={t("This conversation belongs to the project {{name}}", { name })}>
      <Button mt="md" loading={choose.isPending} onClick={() => choose.mutate()}>
        {t("Change to {{name}}", { name })}
      </Button>
    </Empty>
  );
}

function SharedChat({ id, project }: { id: string; project: string }) {
  const query = useQuery({
    queryKey: ["shared-chat", project, id],
    queryFn: () => new SavedChatsApi(project).readShared(id),
    retry: false,
    // The sharing may have ended since.
    gcTime: 0,
  });
  const [artifact, setArtifact] = useState<Artifact>();
  return (
    <QueryView query={query}>
      {({ title, author, updated_at: updatedAt, content }) => {
        const conversation = parseConversation(content);
        return (
          <Page
            title={title ?? t("Shared conversation")}
            description={t("{{name}} shares this copy with the project, {{time}}.", {
              name: author,
              time: formatAgo(updatedAt),
            })}
            actions={conversation && <ContinueButton conversation={conversation} />}
          >
            {conversation === undefined ? (
              <Alert color="red">{t("The copy cannot be read.")}</Alert>
            ) : (
              <OpenArtifact value={setArtifact}>
                <Stack gap="xl" maw={860} mx="auto" w="100%">
                  {conversation.turns.map((turn) => (
                    <SharedTurn key={turn.id} turn={turn} />
                  ))}
                </Stack>
                <ArtifactSide artifact={artifact} onClose={() => setArtifact(undefined)} isBeside={false} />
              </OpenArtifact>
            )}
          </Page>
        );
      }}
    </QueryView>
  );
}

function SharedTurn({ turn }: { turn: Turn }) {
  const { toolResults, approvals } = turn;
  return (
    <Stack gap="sm">
      {toolResults === undefined && approvals === undefined ? (
        <Group justify="flex-end">
          <div className="user-message shared-question">
            <Question turn={turn} />
          </div>
        </Group>
      ) : (
        <Group justify="flex-end">
          <Badge variant="light" tt="none" color="gray" c="var(--mantine-color-text)">
            {toolResults?.map(({ name }) => name).join(", ") ?? approvals?.map(({ tool }) => tool).join(", ")}
          </Badge>
        </Group>
      )}
      {turn.answers.map((answer, column) => (
        <AnswerView
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is a model's place
          key={column}
          answer={answer}
          model={undefined}
          showsModel
          isFastest={false}
          isFirst={false}
          hidesRequests={false}
          isBusy={false}
          isLast={false}
          turnId={turn.id}
          column={column}
        />
      ))}
      {turn.answers.length === 0 && <Text c="dimmed">{t("No answer")}</Text>}
    </Stack>
  );
}

/** Copies what is shared among the reader's conversations. */
function ContinueButton({ conversation }: { conversation: Conversation }) {
  const navigate = useNavigate();
  const copy = () => {
    const { models, turns } = conversation;
    const next = newConversation(models, NO_PARAMETERS);
    chatStore.add(next);
    chatStore.change(next.id, { turns, changedAt: Date.now() });
    void navigate({ to: "/chat", search: { c: next.id } as never });
  };
  return (
    <Button variant="default" onClick={copy}>
      {t("Continue in your chat")}
    </Button>
  );
}
