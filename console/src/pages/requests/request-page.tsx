// Not part of the first load.
import "@fontsource-variable/geist-mono/wght.css";
import { Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { retrieveOrNull } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import {
  formatCost,
  formatDateTime,
  formatMilliseconds,
  formatNumber,
  formatSeconds,
} from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { useAction } from "../../components/use-action.ts";
import { plural, t } from "../../i18n/translate.ts";
import { IconMessage } from "../../icons.tsx";
import { chatStore } from "../chat/chat-store.ts";
import { newConversation } from "../chat/conversation.ts";
import { keyPath, projectQuery } from "../projects/projects-api.ts";
import { costParts, differsFromStated } from "./cost-parts.ts";
import { FeedbackCard } from "./feedback-card.tsx";
import { RecordedContent } from "./recorded-content.tsx";
import {
  isFailed,
  outcomeOf,
  type RecordedMessage,
  type RequestDetails,
  type RequestEntry,
  readContent,
  requestQuery,
} from "./requests-api.ts";
import { toConversation } from "./to-conversation.ts";
import { Waterfall } from "./waterfall.tsx";

export function RequestPage() {
  const { request: id } = useParams({ strict: false }) as { request: string };
  const query = useQuery(requestQuery(id));
  return (
    <QueryView query={query} loading="page">
      {(entry) => <Content entry={entry} />}
    </QueryView>
  );
}

function Content({ entry }: { entry: RequestDetails }) {
  const { project } = useSession();
  const content = useAction(() => readContent(entry.id));
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  const model = models.data?.find(({ id }) => id === (entry.answered_by ?? entry.model));
  const generating = entry.duration_ms - (entry.first_token_ms ?? 0);
  // The time between the turns of a request with tools is that of the tools.
  const hasTurns = entry.stages.some(({ type }) => type === "turn");
  const rate =
    !hasTurns && (entry.output_tokens ?? 0) > 1 && generating > 20
      ? (1000 * ((entry.output_tokens ?? 0) - 1)) / generating
      : undefined;
  return (
    <Page
      title={entry.model ?? entry.operation}
      description={
        <Group gap={8}>
          <Link to="/requests" className="link">
            {t("Requests")}
          </Link>
          <span>/ {formatDateTime(entry.ended_at)}</span>
          <Badge
            variant="dot"
            color={isFailed(entry) ? "red" : entry.status === 499 ? "gray" : "teal"}
            tt="none"
            fw={500}
          >
            {outcomeOf(entry)} · {entry.status}
          </Badge>
        </Group>
      }
      actions={model?.metadata.task === "chat" && <OpenInChat model={model} messages={content.data?.input_messages} />}
    >
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Stat
          label={t("Duration")}
          value={formatMilliseconds(entry.duration_ms)}
          detail={
            entry.loading_ms === null
              ? undefined
              : t("{{time}} of it loading", { time: formatMilliseconds(entry.loading_ms) })
          }
        />
        <Stat
          label={t("First token")}
          value={entry.first_token_ms === null ? "—" : formatMilliseconds(entry.first_token_ms)}
          detail={
            entry.queued_ms === null
              ? undefined
              : t("{{time}} in the queue", { time: formatMilliseconds(entry.queued_ms) })
          }
        />
        <Stat
          label={t("Tokens")}
          value={
            entry.input_tokens === null
              ? "—"
              : `${formatNumber(entry.input_tokens)} → ${formatNumber(entry.output_tokens ?? 0)}`
          }
          detail={
            rate === undefined
              ? undefined
              : plural(Math.round(rate), "{{count}} token per second", "{{count}} tokens per second")
          }
        />
        <Stat label={t("Cost")} value={entry.cost_usd === null ? t("No price") : formatCost(entry.cost_usd)} />
      </SimpleGrid>
      <Card>
        <Title order={2} mb="md">
          {t("Timing")}
        </Title>
        <Waterfall entry={entry} />
      </Card>
      <RecordedContent entry={entry} content={content} />
      <FeedbackCard entry={entry} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <Card>
          <Title order={2} mb="sm">
            {t("Request")}
          </Title>
          <Facts entry={entry} />
        </Card>
        <Card>
          <Title order={2} mb="sm">
            {t("Tokens and cost")}
          </Title>
          <Consumption entry={entry} model={model} />
        </Card>
      </SimpleGrid>
    </Page>
  );
}

interface OpenInChatProps {
  model: ModelEntry;
  /** Recorded prompt, once it is shown. */
  messages: readonly RecordedMessage[] | undefined;
}

/** Begins a conversation with the model, with the prompt where it is shown. */
function OpenInChat({ model, messages }: OpenInChatProps) {
  const navigate = useNavigate();
  return (
    <Button
      variant="default"
      leftSection={<IconMessage size={16} />}
      onClick={() => {
        const conversation = messages ? toConversation(model.id, messages) : newConversation([model.id]);
        chatStore.add(conversation);
        void navigate({ to: "/chat", search: { c: conversation.id } as never });
      }}
    >
      {t("Open in chat")}
    </Button>
  );
}

function Facts({ entry }: { entry: RequestEntry }) {
  const { is_admin: isAdmin, project: own } = useSession();
  const project = useQuery({ ...projectQuery(entry.project_id), enabled: isAdmin, retry: false });
  const key = useQuery({
    queryKey: ["key-name", entry.project_id, entry.api_key_id],
    queryFn: ({ signal }) =>
      retrieveOrNull<{ name: string }>(keyPath(entry.project_id, entry.api_key_id), signal).catch(() => null),
    enabled: isAdmin,
  });
  const projectName = project.data?.name ?? (own?.id === entry.project_id ? own.name : entry.project_id);
  return (
    <Stack gap={0}>
      <Fact label={t("ID")}>
        <Group gap={2} wrap="nowrap">
          <span className="mono wrap-anywhere">{entry.id}</span>
          <CopyButton text={entry.id} label={t("Copy ID")} />
        </Group>
      </Fact>
      <Fact label={t("Project")}>
        {isAdmin ? (
          <Link to="/projects/$project" params={{ project: entry.project_id }} className="link">
            {projectName}
          </Link>
        ) : (
          projectName
        )}
      </Fact>
      <Fact label={t("Key")}>{key.data?.name ?? <span className="mono wrap-anywhere">{entry.api_key_id}</span>}</Fact>
      <Fact label={t("Endpoint")}>
        <span className="mono">
          /{entry.operation.startsWith("api/") ? "" : "v1/"}
          {entry.operation}
        </span>
      </Fact>
      <Fact label={t("Answered by")}>
        {entry.answered_by ?? t("No model")}
        {entry.deployment !== null && entry.deployment !== entry.answered_by && ` · ${entry.deployment}`}
      </Fact>
      {entry.attempts !== null && <Fact label={t("Attempts")}>{formatNumber(entry.attempts)}</Fact>}
      {entry.error !== null && (
        <Fact label={t("Error")}>
          <span className="mono">{entry.error}</span>
          {entry.error_message !== null && (
            <Text size="sm" c="var(--mantine-color-error)" className="wrap-anywhere">
              {entry.error_message}
            </Text>
          )}
        </Fact>
      )}
      {entry.guardrails.map(({ type, stage, outcome, findings }) => (
        <Fact key={`${type} ${stage}`} label={stage === "input" ? t("Guardrail, input") : t("Guardrail, output")}>
          <span className="mono">{type}</span> {outcome}
          {Object.entries(findings).map(([name, count]) => (
            <Text key={name} size="xs" c="dimmed">
              {name}: {formatNumber(count)}
            </Text>
          ))}
        </Fact>
      ))}
    </Stack>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="fact">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div" className="wrap-anywhere">
        {children}
      </Text>
    </div>
  );
}

function Consumption({ entry, model }: { entry: RequestEntry; model: ModelEntry | undefined }) {
  const parts = costParts(entry, model?.metadata.pricing);
  const quantities: (readonly [label: string, text: string | null])[] = [
    [t("Audio"), entry.audio_seconds ? formatSeconds(entry.audio_seconds) : null],
    [t("Characters"), entry.characters ? formatNumber(entry.characters) : null],
    [t("Cache"), entry.cache === "hit" ? t("Answered from the cache") : entry.cache],
    [
      t("Reasoning tokens"),
      entry.reasoning_tokens === null || parts.some(({ label }) => label === "Reasoning tokens")
        ? null
        : formatNumber(entry.reasoning_tokens),
    ],
    [t("Service tier"), entry.service_tier],
    [t("End user"), entry.end_user],
    [t("Tags"), entry.tags.length === 0 ? null : entry.tags.join(", ")],
  ];
  return (
    <Stack gap={0}>
      {parts.map(({ label, tokens, costUsd }) => (
        <Fact key={label} label={label}>
          <Group justify="space-between" className="tabular">
            <span>{formatNumber(tokens)}</span>
            <span>{costUsd === null ? "" : formatCost(costUsd)}</span>
          </Group>
        </Fact>
      ))}
      {quantities.map(
        ([label, text]) =>
          text !== null && (
            <Fact key={label} label={label}>
              {text}
            </Fact>
          ),
      )}
      <Fact label={t("Total")}>
        <Group justify="flex-end" className="tabular" fw={600}>
          {entry.cost_usd === null ? t("No price") : formatCost(entry.cost_usd)}
        </Group>
      </Fact>
      {entry.reported_cost_usd !== null && (
        <Fact label={t("Stated by the provider")}>
          <Group justify="space-between" className="tabular">
            <span>
              {differsFromStated(entry.reported_cost_usd, entry.compared_cost_usd)
                ? t("Differs from {{cost}} at the deployment's price", {
                    cost: formatCost(entry.compared_cost_usd ?? 0),
                  })
                : ""}
            </span>
            <span>{formatCost(entry.reported_cost_usd)}</span>
          </Group>
        </Fact>
      )}
    </Stack>
  );
}
