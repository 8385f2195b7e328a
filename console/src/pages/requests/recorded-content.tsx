import { Badge, Button, Card, Code, Group, Stack, Text, Title } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import type { RecordedMessage, RecordedPart, RequestDetails } from "./requests-api.ts";
import { textOf } from "./to-conversation.ts";

interface RecordedContentProps {
  entry: RequestDetails;
  content: UseMutationResult<RequestDetails["content"], Error, void>;
}

/** Prompt and answer, which are read on demand: the audit log notes who looks. */
export function RecordedContent({ entry, content }: RecordedContentProps) {
  const { data, error, isPending, mutate } = content;
  return (
    <Card>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{t("Prompt and answer")}</Title>
        {data?.truncated && (
          <Badge color="yellow" variant="light" c="var(--mantine-color-text)" tt="none">
            {t("Shortened")}
          </Badge>
        )}
      </Group>
      <ErrorAlert error={error} />
      {!entry.recorded && (
        <Text size="sm" c="dimmed">
          {t("Not recorded. A project records prompts and answers once an administrator turns that on.")}
        </Text>
      )}
      {entry.recorded && !data && (
        <Group gap="sm">
          <Button variant="default" loading={isPending} onClick={() => mutate()}>
            {t("Show prompt and answer")}
          </Button>
          <Text size="sm" c="dimmed">
            {t("The audit log notes who looks.")}
          </Text>
        </Group>
      )}
      {data && (
        <Stack gap="md">
          <Messages label={t("Prompt")} messages={data.input_messages} />
          <Messages label={t("Answer")} messages={data.output_messages} />
          {data.tools.length > 0 && (
            <Text size="sm" c="dimmed" className="wrap-anywhere">
              {t("Tools: {{names}}", { names: data.tools.map(({ name }) => name).join(", ") })}
            </Text>
          )}
        </Stack>
      )}
    </Card>
  );
}

function Messages({ label, messages }: { label: string; messages: readonly RecordedMessage[] }) {
  return (
    <section aria-label={label}>
      <Stack gap="xs">
        {messages.map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: recorded messages do not change
          <div key={index}>
            <Group gap={4}>
              <Text size="xs" c="dimmed" fw={600}>
                {message.name === undefined ? message.role : `${message.role} · ${message.name}`}
              </Text>
              {textOf(message) !== "" && (
                <CopyButton text={textOf(message)} label={t("Copy the message of {{role}}", { role: message.role })} />
              )}
            </Group>
            {message.parts.map((part, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: recorded parts do not change
              <Part key={place} part={part} />
            ))}
          </div>
        ))}
        {messages.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("None")}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function Part({ part }: { part: RecordedPart }) {
  if (part.type === "tool_call" || part.type === "tool_call_response") {
    return (
      <Code block className="wrap-anywhere">
        {part.type === "tool_call" ? `${part.name ?? "tool"}(${part.arguments})` : part.response}
      </Code>
    );
  }
  if (part.type === "uri" || part.type === "blob") {
    return (
      <Text size="sm" c="dimmed" className="wrap-anywhere">
        [{part.modality} {part.type === "uri" ? part.uri : part.name}]
      </Text>
    );
  }
  return (
    <Text
      size="sm"
      dir="auto"
      c={part.type === "reasoning" ? "dimmed" : undefined}
      style={{ whiteSpace: "pre-wrap" }}
      className="wrap-anywhere"
    >
      {part.content}
    </Text>
  );
}
