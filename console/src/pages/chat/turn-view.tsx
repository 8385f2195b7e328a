import {
  ActionIcon,
  Button,
  Card,
  Code,
  Group,
  Image,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  Tooltip,
} from "@mantine/core";
import { useState } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { IconPencil, IconRefresh } from "../../icons.tsx";
import { AnswerView } from "./answer-view.tsx";
import type { ToolResult, Turn } from "./conversation.ts";
import { ToolResultsForm } from "./tool-results-form.tsx";
import type { Chat } from "./use-chat.ts";

interface TurnViewProps {
  turn: Turn;
  chat: Chat;
  models: ModelEntry[];
  isLast: boolean;
}

/** One question, or results of tools, with the answers of every model. */
export function TurnView({ turn, chat, models, isLast }: TurnViewProps) {
  const [only] = turn.answers;
  // Models beside each other may call different tools.
  const isWaiting = isLast && !chat.isRunning && turn.answers.length === 1 && only?.state === "done";
  return (
    <Stack gap="sm">
      {turn.toolResults === undefined ? (
        <Question turn={turn} chat={chat} />
      ) : (
        <ToolResults results={turn.toolResults} />
      )}
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
      {isWaiting && only.toolCalls.length > 0 && (
        <ToolResultsForm calls={only.toolCalls} onSend={chat.sendToolResults} />
      )}
    </Stack>
  );
}

function ToolResults({ results }: { results: readonly ToolResult[] }) {
  return (
    <Stack gap={6} align="flex-end">
      {results.map(({ id, name, content }) => (
        <Card key={id} padding="xs" maw="80%">
          <Text size="xs" c="dimmed" fw={600}>
            {name}
          </Text>
          <Code block className="wrap-anywhere">
            {content}
          </Code>
        </Card>
      ))}
    </Stack>
  );
}

function Question({ turn, chat }: { turn: Turn; chat: Chat }) {
  const [edited, setEdited] = useState<string>();
  const { isRunning } = chat;
  return (
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
  );
}
