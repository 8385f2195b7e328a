import { Button, ScrollArea, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { Empty } from "../../components/empty.tsx";
import { IconMessage } from "../../icons.tsx";
import { TurnView } from "./turn-view.tsx";
import type { Chat } from "./use-chat.ts";

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

/** Turns of a conversation; an empty one suggests questions. */
export function Transcript({ chat, models, onPick }: TranscriptProps) {
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
          {turns.map((turn, index) => (
            <TurnView key={turn.id} turn={turn} chat={chat} models={models} isLast={index === turns.length - 1} />
          ))}
        </Stack>
      )}
    </ScrollArea>
  );
}
