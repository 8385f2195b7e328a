import { ActionIcon, Card, Drawer, Group, ScrollArea, Stack, Tooltip, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { AsCode } from "../../components/as-code.tsx";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { IconAdjustments, IconMessage, IconPlus } from "../../icons.tsx";
import { parameterProblems } from "./chat-body.ts";
import { chatSamples } from "./chat-samples.ts";
import { Composer } from "./composer.tsx";
import { ConversationsDrawer } from "./conversations-drawer.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { type ChatBounds, ParametersForm } from "./parameters-form.tsx";
import { Transcript } from "./transcript.tsx";
import { useChat } from "./use-chat.ts";

/** More than these would not be read. */
const MAX_CHOICES = 8;

export function ChatPage() {
  const { project } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  useEffect(() => {
    document.title = "Chat · Parlance";
  }, []);
  if (project === null) return <NeedsProjectKey />;
  if (models.error !== null) return <PageError error={models.error} reset={() => void models.refetch()} />;
  if (models.data === undefined) return <PageLoading />;
  const chatModels = models.data.filter(({ metadata }) => metadata.task === "chat");
  if (chatModels.length === 0) {
    return (
      <Empty icon={<IconMessage />} title="This project has no chat model">
        Add one to <code>models</code> in parlance.yaml, or allow one in the project's model permissions.
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
  const [draft, setDraft] = useState("");
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWide = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  const [first] = models;
  const available = conversation.models.filter((id) => models.some((model) => model.id === id));
  const chosen = available.length > 0 || first === undefined ? available : [first.id];
  // biome-ignore lint/correctness/useExhaustiveDependencies: replaces models that no longer exist
  useEffect(() => {
    if (chosen.join("\n") !== conversation.models.join("\n")) change({ models: chosen });
  }, [chosen.join("\n")]);
  useHotkeys(
    [
      ["mod+shift+O", actions.begin],
      ["Escape", () => chat.isRunning && actions.stop()],
    ],
    [],
  );
  const selected = models.filter(({ id }) => chosen.includes(id));
  const problem = Object.values(parameterProblems(conversation.parameters)).find((each) => each !== undefined);
  const canSee = selected.length > 0 && selected.every(({ metadata }) => metadata.capabilities.vision === true);
  const parameters = (
    <ParametersForm
      parameters={conversation.parameters}
      onChange={(next) => change({ parameters: next })}
      bounds={boundsOf(selected)}
    />
  );
  return (
    <Group align="stretch" gap="lg" wrap="nowrap" className="chat-room">
      <VisuallyHidden component="h1">Chat</VisuallyHidden>
      <Stack flex={1} gap="sm" miw={0}>
        <Group gap="xs" align="flex-start">
          <ModelPicker models={models} value={chosen} onChange={(next) => change({ models: next })} />
          <AsCode samples={() => chatSamples(conversation, draft)} />
          {!isWide && (
            <Tooltip label="Parameters">
              <ActionIcon variant="default" size={36} aria-label="Parameters" onClick={open}>
                <IconAdjustments size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <ConversationsDrawer current={conversation.id} onOpen={actions.open} onDelete={actions.remove} />
          <Tooltip label="New conversation">
            <ActionIcon
              variant="default"
              size={36}
              aria-label="New conversation"
              disabled={conversation.turns.length === 0}
              onClick={actions.begin}
            >
              <IconPlus size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Transcript chat={chat} models={models} onPick={setDraft} />
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
        <Drawer opened={isOpen} onClose={close} position="right" title="Parameters" size="sm">
          {parameters}
        </Drawer>
      )}
    </Group>
  );
}

function boundsOf(models: ModelEntry[]): ChatBounds {
  const some = (name: string) => models.some(({ metadata }) => metadata.capabilities[name] !== false);
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
