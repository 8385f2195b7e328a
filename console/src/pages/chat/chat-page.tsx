import {
  ActionIcon,
  Button,
  Card,
  Drawer,
  Group,
  Image,
  MultiSelect,
  Paper,
  ScrollArea,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  Tooltip,
  VisuallyHidden,
} from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconAdjustments, IconMessage, IconPencil, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { AsCode } from "../../components/as-code.tsx";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { AnswerView } from "./answer-view.tsx";
import { chatSamples } from "./chat-body.ts";
import { Composer } from "./composer.tsx";
import type { Turn } from "./conversation.ts";
import { ParametersForm } from "./parameters-form.tsx";
import { type Chat, useChat } from "./use-chat.ts";

const MAX_MODELS = 3;

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
  return <ChatRoom models={chatModels} />;
}

function ChatRoom({ models }: { models: ModelEntry[] }) {
  const chat = useChat();
  const { conversation, change } = chat;
  const [draft, setDraft] = useState("");
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWide = useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
  const [first] = models;
  const known = conversation.models.filter((id) => models.some((model) => model.id === id));
  const chosen = known.length > 0 || first === undefined ? known : [first.id];
  // biome-ignore lint/correctness/useExhaustiveDependencies: replaces models that no longer exist
  useEffect(() => {
    if (chosen.join("\n") !== conversation.models.join("\n")) change({ models: chosen });
  }, [chosen.join("\n")]);
  const selected = models.filter(({ id }) => chosen.includes(id));
  const canReason = selected.some(({ metadata }) => metadata.capabilities.reasoning === true);
  const canSee = selected.length > 0 && selected.every(({ metadata }) => metadata.capabilities.vision === true);
  const parameters = (
    <ParametersForm
      parameters={conversation.parameters}
      onChange={(next) => change({ parameters: next })}
      canReason={canReason}
    />
  );
  return (
    <Group align="stretch" gap="lg" wrap="nowrap" className="chat-room">
      <VisuallyHidden component="h1">Chat</VisuallyHidden>
      <Stack flex={1} gap="sm" miw={0}>
        <Group gap="xs" align="flex-start">
          <MultiSelect
            flex="1 1 280px"
            miw={0}
            aria-label="Models"
            data={models.map(({ id }) => id)}
            value={chosen}
            maxValues={MAX_MODELS}
            searchable
            hidePickedOptions
            onChange={(next) => next.length > 0 && change({ models: next })}
          />
          <AsCode samples={() => chatSamples(conversation, draft)} />
          {!isWide && (
            <Tooltip label="Parameters">
              <ActionIcon variant="default" size={36} aria-label="Parameters" onClick={open}>
                <IconAdjustments size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <Tooltip label="New conversation">
            <ActionIcon
              variant="default"
              size={36}
              aria-label="New conversation"
              disabled={conversation.turns.length === 0}
              onClick={chat.clear}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Transcript chat={chat} models={models} onPick={setDraft} />
        <Composer
          draft={draft}
          onDraft={setDraft}
          isRunning={chat.isRunning}
          takesImages={canSee}
          onSend={chat.ask}
          onStop={chat.stop}
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

const WRAPPING = { label: { whiteSpace: "normal" } } as const;
const EXAMPLES = [
  "Explain what a vector database is, in three sentences.",
  "Write a Python function that reverses the words of a sentence.",
  "List five names for a cat that likes to sleep.",
];

interface TranscriptProps {
  chat: Chat;
  models: ModelEntry[];
  onPick: (text: string) => void;
}

function Transcript({ chat, models, onPick }: TranscriptProps) {
  const { turns } = chat.conversation;
  const viewport = useRef<HTMLDivElement>(null);
  const followsEnd = useRef(true);
  // Follows the answer unless the reader has scrolled up.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each change of the turns
  useEffect(() => {
    const element = viewport.current;
    if (element !== null && followsEnd.current) element.scrollTop = element.scrollHeight;
  }, [turns]);
  return (
    <ScrollArea
      flex={1}
      mih={0}
      viewportRef={viewport}
      type="auto"
      scrollbars="y"
      scrollbarSize={8}
      viewportProps={{ tabIndex: 0, role: "log", "aria-label": "Conversation", "aria-live": "polite" }}
      onScrollPositionChange={({ y }) => {
        const element = viewport.current;
        if (element !== null) followsEnd.current = element.scrollHeight - element.clientHeight - y < 40;
      }}
    >
      {turns.length === 0 ? (
        <Empty icon={<IconMessage />} title="Ask something">
          <Text size="sm" mb="sm">
            Answers come from this machine or its upstreams; the conversation stays in this browser.
          </Text>
          <Stack gap={6}>
            {EXAMPLES.map((example) => (
              <Button
                key={example}
                variant="default"
                size="xs"
                fw={400}
                h="auto"
                py={7}
                onClick={() => onPick(example)}
                styles={WRAPPING}
              >
                {example}
              </Button>
            ))}
          </Stack>
        </Empty>
      ) : (
        <Stack gap="lg" py="xs" pr="sm">
          {turns.map((turn) => (
            <TurnView key={turn.id} turn={turn} chat={chat} models={models} />
          ))}
        </Stack>
      )}
    </ScrollArea>
  );
}

function TurnView({ turn, chat, models }: { turn: Turn; chat: Chat; models: ModelEntry[] }) {
  const [edited, setEdited] = useState<string>();
  const { isRunning } = chat;
  return (
    <Stack gap="sm">
      <Group justify="flex-end" align="flex-start" gap={4} wrap="nowrap">
        <Group gap={0} wrap="nowrap">
          <Tooltip label="Edit">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Edit message"
              disabled={isRunning}
              onClick={() => setEdited(turn.text)}
            >
              <IconPencil size={15} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Retry">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Retry"
              disabled={isRunning}
              onClick={() => chat.retry(turn.id)}
            >
              <IconRefresh size={15} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Paper px="md" py="xs" radius="lg" className="user-message">
          {edited === undefined ? (
            <>
              {turn.images.map((url) => (
                <Image key={url} src={url} alt="Attached" mah={180} w="auto" radius="sm" mb={6} />
              ))}
              <Text size="md" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                {turn.text}
              </Text>
            </>
          ) : (
            <Stack gap="xs">
              <Textarea
                aria-label="Edited message"
                autosize
                autoFocus
                maxRows={12}
                w={480}
                maw="100%"
                value={edited}
                onChange={(event) => setEdited(event.currentTarget.value)}
              />
              <Group gap="xs" justify="flex-end">
                <Button size="xs" variant="default" onClick={() => setEdited(undefined)}>
                  Cancel
                </Button>
                <Button
                  size="xs"
                  disabled={edited.trim() === ""}
                  onClick={() => {
                    setEdited(undefined);
                    chat.retry(turn.id, edited);
                  }}
                >
                  Send
                </Button>
              </Group>
            </Stack>
          )}
        </Paper>
      </Group>
      <SimpleGrid cols={{ base: 1, md: Math.max(1, turn.answers.length) }} spacing="lg">
        {turn.answers.map(
          (answer, column) =>
            answer && (
              <AnswerView
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is a model's place
                key={column}
                answer={answer}
                model={models.find(({ id }) => id === answer.model)}
                showsModel={turn.answers.length > 1 || chat.conversation.models[0] !== answer.model}
              />
            ),
        )}
      </SimpleGrid>
    </Stack>
  );
}
