import { Badge, Button, Card, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { modelsQuery } from "../../api/models.ts";
import { send } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatMilliseconds } from "../../components/format.ts";
import { Markdown } from "../../components/markdown/markdown.tsx";
import { useAbort } from "../../components/use-abort.ts";
import { useAction } from "../../components/use-action.ts";
import { t } from "../../i18n/translate.ts";
import { IconPlayerPlay, IconPlayerStop } from "../../icons.tsx";
import { RatingButtons } from "../requests/rating-buttons.tsx";
import { allVariables } from "./prompt-text.ts";
import { PROMPT_QUERIES, type PromptVersion } from "./prompts-api.ts";
import { VariableField, type VariableValue } from "./variable-field.tsx";

interface Answer {
  request: string | null;
  text: string;
  model: string;
  durationMs: number;
  tokens: { input: number; output: number };
}

/** Form with a field per variable that asks the version's model, and rates the answer. */
export function TryVersion({ version }: { version: PromptVersion }) {
  const { prompt_id: id, version: number, content } = version;
  const variables = allVariables(content);
  const [values, setValues] = useState<Record<string, VariableValue>>(() =>
    Object.fromEntries(variables.map(({ name, default: value }) => [name, value === undefined ? "" : String(value)])),
  );
  const [model, setModel] = useState<string | null>(null);
  const models = useQuery({ ...modelsQuery, enabled: content.model === undefined });
  const abort = useAbort();
  const ask = useAction(
    () => {
      const sent = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
      const prompt = { id, version: String(number), variables: sent };
      return askModel({ prompt, ...(model !== null && { model }) }, abort.next());
    },
    // Its cost and its rating are in the table of versions.
    { changes: PROMPT_QUERIES },
  );
  return (
    <Card>
      <Title order={2} mb="sm">
        {t("Try it")}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
      >
        <Stack gap="sm">
          {variables.map((variable) => (
            <VariableField
              key={variable.name}
              variable={variable}
              value={values[variable.name] ?? ""}
              onChange={(value) => setValues((present) => ({ ...present, [variable.name]: value }))}
            />
          ))}
          {content.model === undefined && (
            <Select
              label={t("Model")}
              required
              searchable
              data={models.data?.filter(({ metadata }) => metadata.task === "chat").map((each) => each.id) ?? []}
              value={model}
              onChange={setModel}
            />
          )}
          <Group>
            <Button type="submit" loading={ask.isPending} leftSection={<IconPlayerPlay size={16} />}>
              {t("Run version {{version}}", { version: String(number) })}
            </Button>
            {ask.isPending && (
              <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={abort.abort}>
                {t("Stop")}
              </Button>
            )}
          </Group>
          <ErrorAlert error={ask.error?.name === "AbortError" ? null : ask.error} />
          {ask.data !== undefined && <AnswerView answer={ask.data} />}
        </Stack>
      </form>
    </Card>
  );
}

function AnswerView({ answer }: { answer: Answer }) {
  const { request, text, model, durationMs, tokens } = answer;
  return (
    <section aria-label={t("Answer")}>
      <Markdown text={text} />
      <Group gap="xs" mt="sm">
        <Badge variant="light" color="gray" tt="none" c="var(--mantine-color-text)">
          {model}
        </Badge>
        <Text size="xs" c="dimmed" className="tabular">
          {t("{{duration}} · {{input}} + {{output}} tokens", { duration: formatMilliseconds(durationMs), ...tokens })}
        </Text>
        {request !== null && <RatingButtons key={request} request={request} changes={PROMPT_QUERIES} />}
      </Group>
    </section>
  );
}

async function askModel(body: object, signal: AbortSignal): Promise<Answer> {
  const beganAt = performance.now();
  const response = await send("v1/responses", { method: "POST", body: { ...body, store: false }, signal });
  const { model, output, usage } = (await response.json()) as Answers["Response"];
  return {
    request: response.headers.get("x-request-id"),
    text: output
      .flatMap((item) => (item.type === "message" ? item.content : []))
      .flatMap((part) => (part.type === "output_text" ? part.text : []))
      .join(""),
    model,
    durationMs: performance.now() - beganAt,
    tokens: { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 },
  };
}
