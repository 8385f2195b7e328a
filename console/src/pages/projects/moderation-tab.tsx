import { Button, Card, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request, retrieveOrNull } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { type Message, msg, t, translateLabels } from "../../i18n/translate.ts";
import { pathOf } from "./projects-api.ts";

type Mode = "off" | "score" | "block";
type LanguageAction = "pass" | "refuse" | "model";

type Policy = Answers["ModerationPolicy"];

function policyQuery(project: string) {
  return queryOptions({
    queryKey: ["project", project, "moderation-policy"],
    queryFn: ({ signal }) => retrieveOrNull<Policy>(`${pathOf(project)}/moderation_policy`, signal),
  });
}

export function ModerationTab({ project }: { project: string }) {
  const query = useQuery(policyQuery(project));
  const { project: own } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: own !== null });
  return (
    <Card maw={640}>
      <QueryView query={query}>
        {(policy) => <PolicyForm project={project} policy={policy} models={models.data ?? []} />}
      </QueryView>
    </Card>
  );
}

const MODES = [
  { value: "off", label: msg("Off") },
  { value: "score", label: msg("Score", { context: "verb" }) },
  { value: "block", label: msg("Block") },
];

const INPUT: Readonly<Record<Mode, Message>> = {
  off: msg("Messages reach the model unread."),
  score: msg("Answers carry the scores of their messages; nothing is refused."),
  block: msg("Flagged messages get a 400 and never reach the model."),
};
const OUTPUT: Readonly<Record<Mode, Message>> = {
  off: msg("Answers are sent as the model writes them."),
  score: msg("Answers carry their scores; nothing is held back."),
  block: msg("Answers are held until they are moderated; flagged ones end as `content_filter`."),
};

const LANGUAGE_ACTIONS = [
  { value: "pass", label: msg("Pass") },
  { value: "refuse", label: msg("Refuse") },
  { value: "model", label: msg("Another model") },
];
const LANGUAGE: Readonly<Record<LanguageAction, Message>> = {
  pass: msg("Text in a language that the model does not know is scored anyway, and the result names the language."),
  refuse: msg("Text in a language that the model does not know gets a 400. Short texts pass."),
  model: msg("Requests with text in a language that the model does not know go to another moderation model."),
};

interface PolicyFormProps {
  project: string;
  policy: Policy | null;
  models: readonly ModelEntry[];
}

interface Values {
  input: Mode;
  output: Mode;
  model: string | null;
  languageAction: LanguageAction;
  languageModel: string | null;
}

function PolicyForm({ project, policy, models }: PolicyFormProps) {
  const form = useForm<Values>({
    initialValues: {
      input: policy?.policy.input?.mode ?? "off",
      output: policy?.policy.output?.mode ?? "off",
      model: policy?.model ?? null,
      languageAction: policy?.unsupported_language?.action ?? "pass",
      languageModel: policy?.unsupported_language?.model ?? null,
    },
    validate: {
      languageModel: (value, { languageAction }) =>
        languageAction === "model" && value === null ? t("Select a model") : null,
    },
  });
  const path = `${pathOf(project)}/moderation_policy`;
  const save = useSave({
    save: ({ input, output, model, languageAction, languageModel }: Values) =>
      input === "off" && output === "off" && languageAction === "pass"
        ? request(path, { method: "DELETE" })
        : request(path, {
            method: "POST",
            body: {
              ...(model !== null && { model }),
              policy: {
                ...(input !== "off" && { input: { mode: input } }),
                ...(output !== "off" && { output: { mode: output } }),
              },
              ...(languageAction !== "pass" && {
                unsupported_language: {
                  action: languageAction,
                  ...(languageAction === "model" && { model: languageModel }),
                },
              }),
            },
          }),
    done: () => t("Moderation policy saved"),
    changes: [policyQuery(project).queryKey],
    form,
    fields: { model: "model", "unsupported_language.model": "languageModel" },
  });
  const { input, output, model, languageAction, languageModel } = form.values;
  const moderationIds = models.filter(({ metadata }) => metadata.task === "moderation").map(({ id }) => id);
  const withSelected = (selected: string | null) =>
    selected === null || moderationIds.includes(selected) ? moderationIds : [...moderationIds, selected];
  const isOff = input === "off" && output === "off" && languageAction === "pass";
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <Choice
          label={t("Messages of the client")}
          options={translateLabels(MODES)}
          explanation={t(INPUT[input])}
          {...form.getInputProps("input")}
        />
        <Choice
          label={t("Answers of the model")}
          options={translateLabels(MODES)}
          explanation={t(OUTPUT[output])}
          {...form.getInputProps("output")}
        />
        <Choice
          label={t("Unknown languages")}
          options={translateLabels(LANGUAGE_ACTIONS)}
          explanation={t(LANGUAGE[languageAction])}
          {...form.getInputProps("languageAction")}
        />
        {languageAction === "model" && (
          <Select
            label={t("Model for other languages")}
            placeholder={t("Select a model")}
            data={withSelected(languageModel)}
            {...form.getInputProps("languageModel")}
          />
        )}
        <Select
          label={t("Moderation model")}
          description={t("Without one, the default moderation model.")}
          placeholder={t("Default")}
          clearable
          disabled={isOff}
          data={withSelected(model)}
          {...form.getInputProps("model")}
        />
        <Text size="sm" c="dimmed">
          {t(
            "Applies from the next request on, whatever the request itself asks for: messages and answers to every chat of this project, unknown languages to moderated chats and requests for moderation.",
          )}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={isOff && policy === null}>
            {t("Save moderation policy")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ChoiceProps {
  label: string;
  options: Array<{ value: string; label: string }>;
  explanation: string;
  value?: string;
  onChange?: (value: string) => void;
}

function Choice({ label, options, explanation, value, onChange }: ChoiceProps) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {label}
      </Text>
      <SegmentedControl
        aria-label={label}
        data={options}
        {...(value !== undefined && { value })}
        {...(onChange !== undefined && { onChange })}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {explanation}
      </Text>
    </div>
  );
}
