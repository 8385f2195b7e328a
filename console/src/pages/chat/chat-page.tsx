import { Alert, Group, Stack, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { type Artifact, OpenArtifact } from "../../components/markdown/artifact.ts";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { useLanguage } from "../../i18n/change-language.ts";
import { t } from "../../i18n/translate.ts";
import { IconMessage } from "../../icons.tsx";
import { parameterProblems } from "./chat-body.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer/composer.tsx";
import type { Parameters } from "./conversation.ts";
import { ConversationColumn } from "./conversations/conversation-column.tsx";
import { countChanged, selectionOf } from "./selection.ts";
import { Transcript } from "./transcript.tsx";
import { useChat } from "./use-chat.ts";
import { useDraft } from "./use-draft.ts";
import { usePromptLink } from "./use-prompt-link.ts";

/** Not part of the first load. */
const ArtifactSide = lazy(async () => ({ default: (await import("./artifacts/artifact-side.tsx")).ArtifactSide }));
const NeedsProjectKey = lazy(async () => ({
  default: (await import("../../components/needs-project-key.tsx")).NeedsProjectKey,
}));
const NoModel = lazy(async () => ({ default: (await import("../../components/no-model.tsx")).NoModel }));
const ParametersDrawer = lazy(async () => ({ default: (await import("./parameters-drawer.tsx")).ParametersDrawer }));

export function ChatPage() {
  const { project } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  const title = `${t("Chat")} · Parlance`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  const chatModels = useMemo(() => models.data?.filter(({ metadata }) => metadata.task === "chat"), [models.data]);
  if (project === null) {
    return (
      <Suspense fallback={<PageLoading />}>
        <NeedsProjectKey />
      </Suspense>
    );
  }
  if (models.error !== null) return <PageError error={models.error} reset={() => void models.refetch()} />;
  if (models.data === undefined || chatModels === undefined) return <PageLoading />;
  if (chatModels.length === 0) {
    return (
      <Suspense>
        <NoModel task="chat" icon={<IconMessage />} />
      </Suspense>
    );
  }
  const transcription = models.data.find(({ metadata }) => metadata.task === "transcription");
  return <ChatRoom models={chatModels} transcriptionModel={transcription?.id} />;
}

interface ChatRoomProps {
  models: ModelEntry[];
  transcriptionModel: string | undefined;
}

function ChatRoom({ models, transcriptionModel }: ChatRoomProps) {
  const chat = useChat();
  const { conversation, actions } = chat;
  const { change } = actions;
  const [draft, setDraft] = useDraft();
  const [showsParameters, { open: openParameters, close: closeParameters }] = useDisclosure(false);
  const layout = useLayout(conversation.id);
  // What is typed draws neither the models nor the conversation again.
  const { chosen, bounds, blind } = useMemo(
    () => selectionOf(models, conversation.models),
    [models, conversation.models],
  );
  const openPrompt = usePromptLink(conversation.models, setDraft);
  const setModels = useCallback((next: string[]) => change({ models: next }), [change]);
  const setParameters = useCallback((next: Parameters) => change({ parameters: next }), [change]);
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a problem is a sentence of the language
  const problem = useMemo(
    () => Object.values(parameterProblems(conversation.parameters)).find((each) => each !== undefined),
    [conversation.parameters, language],
  );
  const isEmpty = conversation.turns.length === 0 && !chat.isLoading;
  const changedParameters = useMemo(() => countChanged(conversation.parameters), [conversation.parameters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: replaces models that no longer exist
  useEffect(() => {
    if (chosen.join("\n") !== conversation.models.join("\n")) change({ models: chosen });
  }, [chosen.join("\n")]);
  useHotkeys(
    [
      ["mod+shift+O", actions.begin],
      // untranslated: a key
      ["Escape", () => chat.isRunning && actions.stop()],
    ],
    [],
  );
  return (
    <OpenArtifact value={layout.openArtifact}>
      <Group align="stretch" gap="lg" wrap="nowrap" className="chat-room">
        <VisuallyHidden component="h1">{t("Chat")}</VisuallyHidden>
        <ConversationColumn
          isColumn={layout.isWide}
          isOpen={layout.showsList}
          onClose={layout.closeList}
          current={conversation.id}
          onOpen={actions.open}
          onNew={actions.begin}
          onDelete={actions.remove}
        />
        <Stack gap="sm" className="chat-column" data-empty={isEmpty || undefined}>
          <ChatHeader
            conversation={conversation}
            draft={draft}
            showsList={layout.isWide && layout.showsList}
            onList={layout.toggleList}
            onParameters={openParameters}
            changedParameters={changedParameters}
            onNew={actions.begin}
            onPrompt={openPrompt}
          />
          <Transcript chat={chat} models={models} onPick={setDraft} />
          {chat.problem !== undefined && (
            <Alert color="yellow" p="xs" title={t("This conversation is only in this browser")}>
              {chat.problem}
            </Alert>
          )}
          <Composer
            draft={draft}
            onDraft={setDraft}
            models={models}
            value={chosen}
            onModels={setModels}
            parameters={conversation.parameters}
            onParameters={setParameters}
            onPrompt={openPrompt}
            canCallTools={bounds.tools}
            blind={blind}
            isRunning={chat.isRunning}
            transcriptionModel={transcriptionModel}
            problem={problem}
            onSend={actions.ask}
            onStop={actions.stop}
          />
        </Stack>
        {layout.artifact && (
          <Suspense>
            <ArtifactSide artifact={layout.artifact} onClose={layout.closeArtifact} isBeside={layout.isWide} />
          </Suspense>
        )}
        {showsParameters && (
          <Suspense>
            <ParametersDrawer
              isOpen
              onClose={closeParameters}
              parameters={conversation.parameters}
              onChange={setParameters}
              bounds={bounds}
            />
          </Suspense>
        )}
      </Group>
    </OpenArtifact>
  );
}

/** What is beside the conversation: the list at the left where there is room, an artifact at the right. */
function useLayout(conversation: string) {
  // untranslated: a media query
  const isWide = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  // untranslated: a media query
  const hasRoomForBoth = useMediaQuery("(min-width: 100em)", undefined, { getInitialValueInEffect: false });
  const [wantsList, setWantsList] = useState(true);
  const [isDrawerOpen, setIsDrawerOpen] = useState(false);
  const [shown, setShown] = useState<{ conversation: string; artifact: Artifact }>();
  const opener = useRef<HTMLElement>(null);
  const artifact = shown?.conversation === conversation ? shown.artifact : undefined;
  const openArtifact = useCallback(
    (next: Artifact) => {
      opener.current = document.activeElement as HTMLElement | null;
      setShown({ conversation, artifact: next });
    },
    [conversation],
  );
  return {
    isWide,
    showsList: isWide ? wantsList && (artifact === undefined || hasRoomForBoth) : isDrawerOpen,
    toggleList: () => (isWide ? setWantsList(!wantsList) : setIsDrawerOpen(true)),
    closeList: () => setIsDrawerOpen(false),
    artifact,
    openArtifact,
    closeArtifact: () => {
      setShown(undefined);
      opener.current?.focus();
    },
  };
}
