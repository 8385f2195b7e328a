import { Alert, Badge, Card, Code, Group, Loader, Stack, Text } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { ModelEntry } from "../../../api/models.ts";
import { memo } from "../../../i18n/memo.ts";
import { t } from "../../../i18n/translate.ts";
import { IconTool } from "../../../icons.tsx";
import type { Answer } from "../conversation.ts";
import { Citations, ServiceCalls } from "../tools/service-calls.tsx";
import { withoutMarks, withoutWaiting } from "../tools/service-tools.ts";
import type { ChatActions } from "../use-chat.ts";
import { AnswerActions, AnswerForm } from "./answer-actions.tsx";
import { MeasuresLine } from "./measures-line.tsx";
import { RaceHeader } from "./race-header.tsx";
import { Reasoning } from "./reasoning.tsx";
import { TokenProbabilities } from "./token-probabilities.tsx";

/** Loaded by the first answer, which is shown as plain text meanwhile. */
const Markdown = lazy(async () => ({ default: (await import("../../../components/markdown/markdown.tsx")).Markdown }));

interface AnswerViewProps {
  answer: Answer;
  model: ModelEntry | undefined;
  showsModel: boolean;
  /** Highest rate of the answers beside it; left out: it has no others beside it. */
  highest?: number;
  isFastest: boolean;
  isFirst: boolean;
  /** Whether calls that wait for a decision are shown elsewhere. */
  hidesRequests: boolean;
  /** Whether any answer of the conversation is being generated. */
  isBusy: boolean;
  /** Whether no other turn follows. */
  isLast: boolean;
  turnId: string;
  column: number;
  /** Left out: the conversation is only read. */
  actions?: ChatActions;
}

export const AnswerView = memo(function AnswerView(props: AnswerViewProps) {
  const { answer, model, showsModel, highest } = props;
  const { text, alternatives, reasoning, toolCalls, state, error } = answer;
  const [showsTokens, setShowsTokens] = useState(false);
  const [isEditing, setIsEditing] = useState(false);
  const isWaiting =
    state === "running" && text === "" && reasoning === "" && toolCalls.length === 0 && !answer.serviceCalls;
  return (
    <Stack gap={6} miw={0} className={highest === undefined ? undefined : "race-lane"}>
      {highest !== undefined ? (
        <RaceHeader {...props} highest={highest} />
      ) : (
        showsModel && (
          <Text size="xs" c="dimmed" fw={600} className="wrap-anywhere">
            {answer.model}
          </Text>
        )
      )}
      {reasoning !== "" && <Reasoning text={reasoning} isRunning={state === "running" && text === ""} />}
      {isWaiting && (
        <Group gap="xs">
          <Loader size="xs" type="dots" />
          <Text size="sm" c="dimmed">
            {model?.metadata.loaded === false ? t("Loading the model…") : t("Waiting for the first token…")}
          </Text>
        </Group>
      )}
      {answer.serviceCalls !== undefined && (
        <ServiceCalls calls={props.hidesRequests ? withoutWaiting(answer.serviceCalls) : answer.serviceCalls} />
      )}
      {text !== "" &&
        (isEditing ? (
          <AnswerForm
            text={text}
            onCancel={() => setIsEditing(false)}
            onSave={(edited) => {
              setIsEditing(false);
              props.actions?.editAnswer(props.turnId, props.column, edited);
            }}
          />
        ) : showsTokens && answer.tokens !== undefined ? (
          <TokenProbabilities tokens={answer.tokens} />
        ) : (
          <AnswerText
            text={answer.serviceCalls === undefined ? text : withoutMarks(text)}
            isRunning={state === "running"}
          />
        ))}
      {alternatives.map((alternative, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: choices are only appended
        <Card key={index} padding="xs">
          <Text size="xs" c="dimmed" fw={600} mb={4}>
            {t("Choice {{number}}", { number: index + 2 })}
          </Text>
          <AnswerText text={alternative} isRunning={state === "running"} />
        </Card>
      ))}
      {toolCalls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are only appended
        <Card key={index} padding="xs">
          <Group gap={6}>
            <IconTool size={15} />
            <Text size="sm" fw={600}>
              {call.name}
            </Text>
          </Group>
          <Code block>{call.arguments}</Code>
        </Card>
      ))}
      {answer.citations !== undefined && <Citations citations={answer.citations} />}
      {error !== undefined && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {error}
        </Alert>
      )}
      <AnswerFooter
        {...props}
        showsTokens={showsTokens}
        onTokens={() => setShowsTokens(!showsTokens)}
        onEdit={() => setIsEditing(true)}
      />
    </Stack>
  );
});

function AnswerText({ text, isRunning }: { text: string; isRunning: boolean }) {
  return (
    <Suspense fallback={<Text style={{ whiteSpace: "pre-wrap" }}>{text}</Text>}>
      <Markdown text={text} isRunning={isRunning} />
    </Suspense>
  );
}

interface AnswerFooterProps extends AnswerViewProps {
  showsTokens: boolean;
  onTokens: () => void;
  onEdit: () => void;
}

function AnswerFooter(props: AnswerFooterProps) {
  const { answer, model, actions, turnId, column, isLast } = props;
  const { state, finishReason, measures, toolCalls } = answer;
  const canContinue = isLast && toolCalls.length === 0;
  return (
    <Group gap="xs" className="turn-actions">
      {state === "stopped" && (
        <Badge color="gray" variant="light">
          {t("Stopped")}
        </Badge>
      )}
      {finishReason === "length" && (
        <Badge color="yellow" variant="light" c="var(--mantine-color-text)">
          {t("Cut at the token limit")}
        </Badge>
      )}
      {finishReason === "content_filter" && (
        <Badge color="red" variant="light">
          {t("Blocked by moderation")}
        </Badge>
      )}
      {measures !== undefined && <MeasuresLine answer={answer} measures={measures} model={model} />}
      <AnswerActions
        {...props}
        onRegenerate={actions && (() => actions.retry(turnId))}
        onContinue={actions && canContinue ? () => actions.continue(turnId, column) : undefined}
        onEdit={actions && props.onEdit}
      />
    </Group>
  );
}
