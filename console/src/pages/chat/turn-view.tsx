import { Badge, Card, Code, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ModelEntry } from "../../api/models.ts";
import { memo } from "../../i18n/memo.ts";
import { t } from "../../i18n/translate.ts";
import { raceOf } from "./answers/answer-speed.ts";
import { AnswerView } from "./answers/answer-view.tsx";
import type { ToolResult, Turn } from "./conversation.ts";
import { QuestionView } from "./question-view.tsx";
import { ToolResultsForm } from "./tool-results-form.tsx";
import { ApprovalForm } from "./tools/approval-form.tsx";
import { type Approval, waitingCalls } from "./tools/service-tools.ts";
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
      <TurnStart {...props} />
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
                hidesRequests={isWaiting}
                isBusy={isRunning}
                isLast={isLast}
                actions={actions}
                turnId={turn.id}
                column={column}
              />
            ),
        )}
      </SimpleGrid>
      {isWaiting && only.toolCalls.length > 0 && (
        <ToolResultsForm calls={only.toolCalls} onSend={actions.sendToolResults} />
      )}
      {isWaiting && waitingCalls(only.serviceCalls).length > 0 && (
        <ApprovalForm calls={waitingCalls(only.serviceCalls)} onDecide={actions.decide} />
      )}
      {isLast && !isRunning && isRace && turn.answers.some((each) => waitingCalls(each?.serviceCalls).length > 0) && (
        <Text size="sm" c="dimmed">
          {t("Calls can be approved in a conversation with one model.")}
        </Text>
      )}
    </Stack>
  );
});

/** The question of a turn, or what stands in its place. */
function TurnStart(props: TurnViewProps) {
  const { toolResults, approvals } = props.turn;
  if (toolResults !== undefined) return <ToolResults results={toolResults} />;
  return approvals === undefined ? <QuestionView {...props} /> : <Approvals approvals={approvals} />;
}

function Approvals({ approvals }: { approvals: readonly Approval[] }) {
  return (
    <Stack gap={6} align="flex-end">
      {approvals.map(({ id, server, tool, approve }) => (
        <Badge key={id} variant="light" tt="none" color={approve ? "teal" : "gray"} c="var(--mantine-color-text)">
          {approve
            ? t("You approved {{tool}} of {{server}}", { tool, server })
            : t("You refused {{tool}} of {{server}}", { tool, server })}
        </Badge>
      ))}
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
