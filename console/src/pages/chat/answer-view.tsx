import { Alert, Badge, Card, Code, Collapse, Group, Loader, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, memo, Suspense } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { formatCost, formatSeconds } from "../../components/format.ts";
import { IconBulb, IconChevronDown, IconChevronRight, IconTool } from "../../icons.tsx";
import { RatingButtons } from "../requests/rating-buttons.tsx";
import type { Answer, Measures } from "./conversation.ts";

/** Loaded by the first answer, which is shown as plain text meanwhile. */
const Markdown = lazy(async () => ({ default: (await import("../../components/markdown.tsx")).Markdown }));

interface AnswerViewProps {
  answer: Answer;
  model: ModelEntry | undefined;
  showsModel: boolean;
}

export const AnswerView = memo(function AnswerView({ answer, model, showsModel }: AnswerViewProps) {
  const { text, alternatives, reasoning, toolCalls, state, error, finishReason, measures, requestId } = answer;
  const isWaiting = state === "running" && text === "" && reasoning === "" && toolCalls.length === 0;
  return (
    <Stack gap={6} miw={0}>
      {showsModel && (
        <Text size="xs" c="dimmed" fw={600} className="wrap-anywhere">
          {answer.model}
        </Text>
      )}
      {reasoning !== "" && <Reasoning text={reasoning} isRunning={state === "running" && text === ""} />}
      {isWaiting && (
        <Group gap="xs">
          <Loader size="xs" type="dots" />
          <Text size="sm" c="dimmed">
            {model?.metadata.loaded === false ? "Loading the model…" : "Waiting for the first token…"}
          </Text>
        </Group>
      )}
      {text !== "" && (
        <Suspense fallback={<Text style={{ whiteSpace: "pre-wrap" }}>{text}</Text>}>
          <Markdown text={text} />
        </Suspense>
      )}
      {alternatives.map((alternative, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: choices are only appended
        <Card key={index} padding="xs">
          <Text size="xs" c="dimmed" fw={600} mb={4}>
            Choice {index + 2}
          </Text>
          <Suspense fallback={<Text style={{ whiteSpace: "pre-wrap" }}>{alternative}</Text>}>
            <Markdown text={alternative} />
          </Suspense>
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
      {error !== undefined && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {error}
        </Alert>
      )}
      <Group gap="xs">
        {state === "stopped" && (
          <Badge color="gray" variant="light">
            Stopped
          </Badge>
        )}
        {finishReason === "length" && (
          <Badge color="yellow" variant="light" c="var(--mantine-color-text)">
            Cut at the token limit
          </Badge>
        )}
        {finishReason === "content_filter" && (
          <Badge color="red" variant="light">
            Blocked by moderation
          </Badge>
        )}
        {measures !== undefined && <MeasuresLine measures={measures} model={model} />}
        {requestId !== undefined && state === "done" && <RatingButtons request={requestId} />}
      </Group>
    </Stack>
  );
});

/** The rate of a shorter time says nothing. */
const MIN_MEASURED_SECONDS = 0.02;

function MeasuresLine({ measures, model }: { measures: Measures; model: ModelEntry | undefined }) {
  const { firstTokenSeconds, seconds, promptTokens, completionTokens } = measures;
  const generating = seconds - (firstTokenSeconds ?? 0);
  const rate =
    completionTokens > 1 && generating > MIN_MEASURED_SECONDS ? (completionTokens - 1) / generating : undefined;
  const cost = costOf(measures, model);
  const parts = [
    rate !== undefined && `${rate.toFixed(rate < 10 ? 1 : 0)} tok/s`,
    firstTokenSeconds !== undefined && `first token ${formatSeconds(firstTokenSeconds)}`,
    `${promptTokens} → ${completionTokens} tokens`,
    cost !== undefined && formatCost(cost),
  ].filter((part) => part !== false);
  return (
    <Text size="xs" c="dimmed" className="tabular" data-testid="measures">
      {parts.join(" · ")}
    </Text>
  );
}

function costOf(
  { promptTokens, cachedTokens = 0, completionTokens }: Measures,
  model: ModelEntry | undefined,
): number | undefined {
  const { prompt, cached_prompt: cached, completion, exchange_rate: rate } = model?.metadata.pricing ?? {};
  if (prompt == null || completion == null) return undefined;
  const read = Number(prompt) * (promptTokens - cachedTokens) + Number(cached ?? prompt) * cachedTokens;
  return Number(rate ?? 1) * (read + Number(completion) * completionTokens);
}

function Reasoning({ text, isRunning }: { text: string; isRunning: boolean }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <UnstyledButton onClick={toggle} aria-expanded={isOpen}>
        <Group gap={4} c="dimmed">
          <IconBulb size={15} />
          <Text size="sm">{isRunning ? "Reasoning…" : "Reasoning"}</Text>
          <Chevron size={14} />
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Text size="sm" c="dimmed" pl="md" mt={4} style={{ whiteSpace: "pre-wrap" }}>
          {text}
        </Text>
      </Collapse>
    </div>
  );
}
