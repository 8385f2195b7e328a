import { Button, Skeleton, Stack, Text } from "@mantine/core";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { memo } from "../../i18n/memo.ts";
import { msg, t } from "../../i18n/translate.ts";
import { branchesOf, pathOf } from "./conversation-tree.ts";
import type { Chat } from "./use-chat.ts";
import { useShownTurns } from "./use-shown-turns.ts";

/** Loaded by the first question: a newcomer sees none. */
const TurnView = lazy(async () => ({ default: (await import("./turn-view.tsx")).TurnView }));

const WRAPPING = { label: { whiteSpace: "normal" } } as const;
const EXAMPLES = [
  msg("Explain what a vector database is, in three sentences."),
  msg("Write a Python function that reverses the words of a sentence."),
  msg("List five names for a cat that likes to sleep."),
  msg("Compare merge sort and quicksort in a table."),
];
const NEAR_TOP = 200;
const NEAR_END = 40;

interface TranscriptProps {
  chat: Chat;
  models: ModelEntry[];
  onPick: (text: string) => void;
}

/** Turns of a conversation, the latest first to be drawn; an empty one suggests questions. */
export const Transcript = memo(function Transcript({ chat, models, onPick }: TranscriptProps) {
  const { conversation, isRunning, isLoading, actions } = chat;
  const { id, models: selected } = conversation;
  const turns = useMemo(() => pathOf(conversation), [conversation]);
  const branches = useMemo(() => branchesOf(conversation), [conversation]);
  const viewport = useRef<HTMLDivElement>(null);
  const followsEnd = useRef(true);
  const { count, isGrowing, hasMore, showMore } = useShownTurns(id, turns, viewport);
  const followEnd = useCallback(() => {
    const element = viewport.current;
    if (element !== null && followsEnd.current) element.scrollTop = element.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation begins at its end
  useEffect(() => {
    followsEnd.current = true;
  }, [id]);
  // Follows the answer unless the reader has scrolled up.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each change of the turns
  useEffect(() => followEnd(), [turns]);
  const onScroll = () => {
    const element = viewport.current;
    if (element === null) return;
    followsEnd.current = element.scrollHeight - element.clientHeight - element.scrollTop < NEAR_END;
    if (element.scrollTop < NEAR_TOP) showMore();
  };
  const skipped = Math.max(0, turns.length - count);
  return (
    <div
      ref={viewport}
      className="scroll-column"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a conversation that scrolls must be reachable by keyboard
      tabIndex={0}
      role="log"
      aria-label={t("Conversation")}
      aria-live="polite"
      aria-busy={isGrowing}
      // The browser would move what is on the screen a second time.
      style={{ overflowAnchor: isGrowing || hasMore ? "none" : "auto" }}
      onScroll={onScroll}
    >
      {turns.length === 0 && isLoading ? (
        <LoadingTurns />
      ) : turns.length === 0 ? (
        <Welcome onPick={onPick} />
      ) : (
        <Stack gap="xl" py="xs" pr="sm" maw={selected.length > 1 ? undefined : 860} mx="auto">
          {hasMore && (
            <Button variant="subtle" size="compact-sm" loading={isGrowing} onClick={showMore}>
              {t("Show earlier messages")}
            </Button>
          )}
          <Suspense>
            <WhenShown run={followEnd} />
            {turns.slice(skipped).map((turn, index) => (
              <TurnView
                key={turn.id}
                turn={turn}
                branchIndex={branches.get(turn.id)?.index ?? 0}
                branchCount={branches.get(turn.id)?.count ?? 1}
                models={models}
                firstModel={selected[0]}
                isRunning={isRunning}
                isLast={skipped + index === turns.length - 1}
                actions={actions}
              />
            ))}
          </Suspense>
        </Stack>
      )}
    </div>
  );
});

/** Runs a function once the code of what is beside it has been loaded. */
function WhenShown({ run }: { run: () => void }) {
  useEffect(run, [run]);
  return null;
}

function LoadingTurns() {
  return (
    <Stack gap="md" py="xs" maw={860} mx="auto" role="status" aria-label={t("Loading the conversation")}>
      <Skeleton h={44} w="45%" ml="auto" />
      <Skeleton h={120} w="85%" />
      <Skeleton h={44} w="35%" ml="auto" />
      <Skeleton h={80} w="75%" />
    </Stack>
  );
}

function Welcome({ onPick }: { onPick: (text: string) => void }) {
  return (
    <div className="chat-welcome">
      <h2>{t("What can I do for you?")}</h2>
      <Text size="sm" c="dimmed" mb="md">
        {t("Answers come from this machine or its upstreams. Choose several models to let them answer side by side.")}
      </Text>
      <div className="chat-examples">
        {EXAMPLES.map((each) => [String(each), t(each)] as const).map(([key, example]) => (
          <Button
            key={key}
            variant="default"
            fw={400}
            h="auto"
            py={12}
            justify="flex-start"
            ta="left"
            onClick={() => onPick(example)}
            styles={WRAPPING}
          >
            {example}
          </Button>
        ))}
      </div>
    </div>
  );
}
