import { Button, Card, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { ACTIONS, type Action, type Guardrail, type GuardrailValues, toList, toValues } from "./guardrail-values.ts";
import { pathOf } from "./projects-api.ts";

function guardrailsQuery(project: string) {
  return queryOptions({
    queryKey: ["project", project, "guardrails"],
    queryFn: async ({ signal }) =>
      (await request<Answers["ProjectGuardrails"]>(`${pathOf(project)}/guardrails`, { signal })).guardrails,
  });
}

export function GuardrailsTab({ project }: { project: string }) {
  const query = useQuery(guardrailsQuery(project));
  const { project: own } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: own !== null });
  return (
    <Card maw={640}>
      <QueryView query={query}>
        {(list) => <GuardrailsForm project={project} list={list} models={models.data ?? []} />}
      </QueryView>
    </Card>
  );
}

const LABELS: Readonly<Record<Action, Message>> = {
  off: msg("Off"),
  mask_and_restore: msg("Mask and restore"),
  mask: msg("Mask"),
  block: msg("Block"),
  report: msg("Report only"),
};

const EFFECTS: Readonly<Record<Action, Message | undefined>> = {
  off: undefined,
  mask_and_restore: msg("Models read placeholders; answers to the client have the values again."),
  mask: msg("A placeholder takes the place of each match."),
  block: msg("Requests get a 400; answers end as `content_filter`."),
  report: msg("Only recorded, in the request and the audit log."),
};

interface GuardrailsFormProps {
  project: string;
  list: readonly Guardrail[];
  models: readonly ModelEntry[];
}

function GuardrailsForm({ project, list, models }: GuardrailsFormProps) {
  const form = useForm<GuardrailValues>({
    initialValues: toValues(list),
    validate: {
      wordList: (value, { words }) =>
        words !== "off" && value.trim() === "" ? t("Write a word or phrase a line") : null,
      rules: (value, { topics }) => (topics !== "off" && value.trim() === "" ? t("Write a rule a line") : null),
      judge: (value, { topics }) => (topics !== "off" && value === null ? t("Select a model") : null),
    },
  });
  const save = useSave({
    save: (values: GuardrailValues) =>
      request(`${pathOf(project)}/guardrails`, { method: "POST", body: { guardrails: toList(list, values) } }),
    done: () => t("Guardrails saved"),
    changes: [["project", project]],
  });
  const { words, topics, judge } = form.values;
  const chatIds = models.filter(({ metadata }) => metadata.task === "chat").map(({ id }) => id);
  const effectOf = (name: keyof typeof ACTIONS) => {
    const effect = EFFECTS[form.values[name]];
    return effect === undefined ? "" : t(effect);
  };
  const action = (name: keyof typeof ACTIONS, label: string) => (
    <Select
      label={label}
      description={effectOf(name)}
      allowDeselect={false}
      data={(["off", ...ACTIONS[name]] as const).map((value) => ({ value, label: t(LABELS[value]) }))}
      {...form.getInputProps(name)}
    />
  );
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        {action("pii", t("Personal data"))}
        {action("secrets", t("Keys, passwords and connection strings"))}
        {action("injection", t("Prompt injections"))}
        {action("words", t("Words"))}
        {words !== "off" && (
          <Textarea
            label={t("Words and phrases")}
            description={t("One a line, without regard to case.")}
            autosize
            minRows={3}
            maxRows={12}
            {...form.getInputProps("wordList")}
          />
        )}
        {action("topics", t("Own rules"))}
        {topics !== "off" && (
          <>
            <Textarea
              label={t("Rules")}
              description={t("One a line: what a text must not be about or do, such as “It asks for legal advice.”")}
              autosize
              minRows={3}
              maxRows={12}
              {...form.getInputProps("rules")}
            />
            <Select
              label={t("Model that judges")}
              placeholder={t("Select a chat model")}
              data={judge === null || chatIds.includes(judge) ? chatIds : [...chatIds, judge]}
              {...form.getInputProps("judge")}
            />
          </>
        )}
        <TextInput
          label={t("Webhook")}
          description={t("Name of an entry of guardrail_services.webhooks in parlance.yaml. Empty: none.")}
          {...form.getInputProps("webhook")}
        />
        <Text size="sm" c="dimmed">
          {t(
            "Applies from the next request on, in this order, after the guardrails of the installation and of the model. Fields that this form does not show keep their values.",
          )}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
            {t("Save guardrails")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
