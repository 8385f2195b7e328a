import { ActionIcon, Alert, Card, Drawer, Group, ScrollArea, Stack, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { AsCode } from "../../components/as-code.tsx";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { useLanguage } from "../../i18n/change-language.ts";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconAdjustments, IconMessage, IconPlus } from "../../icons.tsx";
import { parameterProblems } from "./chat-body.ts";
import { Composer } from "./composer.tsx";
import type { Parameters } from "./conversation.ts";
import { ConversationsDrawer } from "./conversations-drawer.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { type ChatBounds, ParametersForm } from "./parameters-form.tsx";
import { PromptsDrawer } from "./prompts-drawer.tsx";
import { Transcript } from "./transcript.tsx";
import { useChat } from "./use-chat.ts";
import { useDraft } from "./use-draft.ts";
import { usePromptLink } from "./use-prompt-link.ts";

/** More than these would not be read. */
const MAX_CHOICES = 8;

export function ChatPage() {
  const { project } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  const title = `${t("Chat")} · Parlance`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  const chatModels = useMemo(() => models.data?.filter(({ metadata }) => metadata.task === "chat"), [models.data]);
  if (project === null) return <NeedsProjectKey />;
  if (models.error !== null) return <PageError error={models.error} reset={() => void models.refetch()} />;
  if (models.data === undefined || chatModels === undefined) return <PageLoading />;
  if (chatModels.length === 0) {
    return (
      <Empty icon={<IconMessage />} title={t("This project has no chat model")}>
        <Trans
          text="Add one to <code>models</code> in parlance.yaml, or allow one in the project's model permissions."
          tags={{ code: <code /> }}
        />
      </Empty>
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
  const [isOpen, { open, close }] = useDisclosure(false);
  // untranslated: a media query
  const isWide = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  // What is typed draws neither the models nor the conversation again.
  const { chosen, bounds, canSee } = useMemo(
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
  const parameters = <ParametersForm parameters={conversation.parameters} onChange={setParameters} bounds={bounds} />;
  return (
    <Group align="stretch" gap="lg" wrap="nowrap" className="chat-room">
      <VisuallyHidden component="h1">{t("Chat")}</VisuallyHidden>
      <Stack flex={1} gap="sm" miw={0}>
        <Group gap="xs" align="flex-start">
          <ModelPicker models={models} value={chosen} onChange={setModels} />
          <AsCode samples={async () => (await import("./chat-samples.ts")).chatSamples(conversation, draft)} />
          {!isWide && (
            <Tooltip label={t("Parameters")}>
              <ActionIcon variant="default" size={36} aria-label={t("Parameters")} onClick={open}>
                <IconAdjustments size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <PromptsDrawer conversation={conversation} onUse={openPrompt} />
          <ConversationsDrawer current={conversation.id} onOpen={actions.open} onDelete={actions.remove} />
          <Tooltip label={t("New conversation")}>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={t("New conversation")}
              disabled={conversation.turns.length === 0}
              onClick={actions.begin}
            >
              <IconPlus size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Transcript chat={chat} models={models} onPick={setDraft} />
        {chat.problem !== undefined && (
          <Alert color="yellow" p="xs" title={t("This conversation is only in this browser")}>
            {chat.problem}
          </Alert>
        )}
        <Composer
          draft={draft}
          onDraft={setDraft}
          isRunning={chat.isRunning}
          takesImages={canSee}
          transcriptionModel={transcriptionModel}
          problem={problem}
          onSend={actions.ask}
          onStop={actions.stop}
        />
      </Stack>
      {isWide ? (
        <Card w={300} p={0} style={{ flexShrink: 0 }}>
          <ScrollArea h="100%" p="md" type="auto" scrollbarSize={6}>
            {parameters}
          </ScrollArea>
        </Card>
      ) : (
        <Drawer opened={isOpen} onClose={close} position="right" title={t("Parameters")} size="sm">
          {parameters}
        </Drawer>
      )}
    </Group>
  );
}

/** Models of the chat that exist, otherwise the first one, and what they can do. */
function selectionOf(models: ModelEntry[], ids: readonly string[]) {
  const [first] = models;
  const available = ids.filter((id) => models.some((model) => model.id === id));
  const chosen = available.length > 0 || first === undefined ? available : [first.id];
  const selected = models.filter(({ id }) => chosen.includes(id));
  const canSee = selected.length > 0 && selected.every(({ metadata }) => metadata.capabilities.vision === true);
  return { chosen, bounds: boundsOf(selected), canSee };
}

function boundsOf(models: ModelEntry[]): ChatBounds {
  const some = (name: keyof ModelEntry["metadata"]["capabilities"]) =>
    models.some(({ metadata }) => metadata.capabilities[name] !== false);
  const windows = models.flatMap(({ metadata }) => metadata.max_output_tokens ?? []);
  const choices = models.flatMap(({ metadata }) => Number(metadata.capabilities.max_choices ?? MAX_CHOICES));
  return {
    reasoning: models.some(({ metadata }) => metadata.capabilities.reasoning === true),
    logprobs: models.length > 0 && models.every(({ metadata }) => metadata.capabilities.logprobs === true),
    tools: some("tools"),
    jsonSchema: some("json_schema"),
    maxTokens: windows.length === 0 ? undefined : Math.min(...windows),
    maxChoices: Math.min(MAX_CHOICES, ...choices),
  };
}
