import { Card, Code, SimpleGrid, Stack, Text } from "@mantine/core";
import { memo } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { raceOf } from "./answer-speed.ts";
import { AnswerView } from "./answer-view.tsx";
import type { ToolResult, Turn } from "./conversation.ts";
import { QuestionView } from "./question-view.tsx";
import { ToolResultsForm } from "./tool-results-form.tsx";
import type { ChatActions } from "./use-chat.ts";

interface TurnViewProps {
  turn: Turn;
  branchIndex: number;
  branchCount: number;
  models: ModelEntry[];
  /** Model of the conversation whose answers need no name. */
  firstModel: string | undefined;
  isRunning: boolean;
  isLast: boolean;
  actions: ChatActions;
}

/** One question, or results of tools, with the answers of every model. */
export const TurnView = memo(function TurnView(props: TurnViewProps) {
  const { turn, models, firstModel, isRunning, isLast, actions } = props;
  const [only] = turn.answers;
  // Models beside each other may call different tools.
  const isWaiting = isLast && !isRunning && turn.answers.length === 1 && only?.state === "done";
  const isRace = turn.answers.length > 1;
  const race = raceOf(turn.answers.filter(Boolean));
  return (
    <Stack gap="sm" className="turn">
      {turn.toolResults === undefined ? <QuestionView {...props} /> : <ToolResults results={turn.toolResults} />}
      <SimpleGrid
        cols={{ base: 1, md: Math.max(1, Math.min(2, turn.answers.length)), xl: Math.max(1, turn.answers.length) }}
        spacing="md"
      >
        {turn.answers.map(
          (answer, column) =>
            answer && (
              <AnswerView
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is a model's place
                key={column}
                answer={answer}
                model={models.find(({ id }) => id === answer.model)}
                showsModel={isRace || firstModel !== answer.model}
                {...(isRace && { highest: race.highest })}
                isFastest={race.fastest === column}
                isFirst={race.first === column}
              />
            ),
        )}
      </SimpleGrid>
      {isWaiting && only.toolCalls.length > 0 && (
        <ToolResultsForm calls={only.toolCalls} onSend={actions.sendToolResults} />
      )}
    </Stack>
  );
});

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
