import { FileInput, MultiSelect, NativeSelect, NumberInput, Select, SimpleGrid, Text, Textarea } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/models.ts";
import { may, useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { msg, plural, t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { promptsQuery, type StoredPrompt } from "../prompts/prompts-api.ts";
import { EVAL_QUERIES, type EvalRun } from "./evals-api.ts";
import { type RowSource, type RunFields, startRuns } from "./start-runs.ts";

interface NewRunsProps {
  evalId: string;
  project: string;
  /** Data source of the run before; undefined: it is the first one. */
  before: EvalRun["data_source"] | undefined;
  onStarted: (runs: readonly EvalRun[]) => void;
}

/** Button with the form that starts one run per model and version of a prompt. */
export function NewRuns(props: NewRunsProps) {
  return (
    <DialogButton label={t("New run")} leftSection={<IconPlus size={16} />}>
      {(close) => <RunDialog {...props} onClose={close} />}
    </DialogButton>
  );
}

const SOURCES = [
  { value: "file", label: msg("A file (JSON Lines)") },
  { value: "recorded", label: msg("Recorded requests") },
  { value: "completions", label: msg("Stored chat completions") },
  { value: "responses", label: msg("Stored responses") },
];
const MAX_LISTED_VERSIONS = 20;

function RunDialog({ evalId, project, before, onStarted, onClose }: NewRunsProps & { onClose: () => void }) {
  const models = useQuery(modelsQuery);
  const prompts = useQuery(promptsQuery);
  const mayReadContent = may(useSession(), "project.content.read", project);
  const sources = SOURCES.filter(({ value }) => value !== "recorded" || mayReadContent);
  const chatModels = models.data?.filter(({ metadata }) => metadata.task === "chat").map(({ id }) => id) ?? [];
  const countOf = (fields: RunFields) => fields.models.length + fields.prompts.length;
  return (
    <FormDialog<RunFields, readonly EvalRun[]>
      title={t("New run")}
      action={(fields) =>
        countOf(fields) === 0
          ? t("Grade the answers")
          : plural(countOf(fields), "Start {{count}} run", "Start {{count}} runs")
      }
      size="lg"
      onClose={onClose}
      initial={{
        source: before === undefined ? "file" : "before",
        file: null,
        days: 7,
        ofModel: null,
        minScore: "",
        limit: 100,
        models: [],
        prompts: [],
        template: "{{item.question}}",
        variables: "",
      }}
      save={(fields) => startRuns(fields, { evalId, before, project })}
      changes={EVAL_QUERIES}
      onSaved={onStarted}
    >
      {(form) => {
        const { source, models: chosen, prompts: chosenPrompts } = form.values;
        return (
          <>
            <NativeSelect
              label={t("Rows")}
              data={[
                ...(before === undefined ? [] : [{ value: "before", label: t("As in the last run") }]),
                ...sources.map(({ value, label }) => ({ value, label: t(label) })),
              ]}
              {...form.getInputProps("source")}
            />
            <SourceFields source={source} form={form} models={chatModels} />
            <MultiSelect
              label={t("Models")}
              placeholder={chosen.length === 0 ? t("Choose some to compare them") : ""}
              searchable
              data={chatModels}
              {...form.getInputProps("models")}
            />
            <MultiSelect
              label={t("Prompts")}
              placeholder={chosenPrompts.length === 0 ? t("Versions of stored prompts") : ""}
              searchable
              data={prompts.data?.flatMap(versionsOf) ?? []}
              {...form.getInputProps("prompts")}
            />
            {(source === "file" || source === "before") && chosen.length > 0 && (
              <Textarea
                label={t("Message to the models")}
                description={t("{{field}} stands for a field of the row.", { field: "{{item.…}}" })}
                autosize
                maxRows={8}
                {...form.getInputProps("template")}
              />
            )}
            {chosenPrompts.length > 0 && (
              <Textarea
                label={t("Variables of the prompts (JSON)")}
                description={t(
                  "With them, a prompt gets no further message. Without them, it gets the messages of the row.",
                )}
                // untranslated: JSON
                placeholder='{"question": "{{item.question}}"}'
                autosize
                maxRows={8}
                className="code-field"
                {...form.getInputProps("variables")}
              />
            )}
            {countOf(form.values) === 0 && (
              <Text size="sm" c="dimmed">
                {t("Without a model and a prompt, the run grades the answers that the rows have.")}
              </Text>
            )}
          </>
        );
      }}
    </FormDialog>
  );
}

interface SourceFieldsProps {
  source: RowSource;
  form: UseFormReturnType<RunFields>;
  models: readonly string[];
}

function SourceFields({ source, form, models }: SourceFieldsProps) {
  if (source === "before") return null;
  if (source === "file") {
    return (
      <FileInput
        label={t("File")}
        description={t("A row per line, such as {{example}}", {
          example: '{"item": {"question": "Capital of Poland?", "answer": "Warsaw"}}',
        })}
        placeholder={t("Choose a file")}
        accept=".jsonl,.ndjson,.txt,application/jsonl"
        {...form.getInputProps("file")}
      />
    );
  }
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        {source === "recorded" ? (
          <>
            <NumberInput label={t("Days")} min={1} max={3650} {...form.getInputProps("days")} />
            <NumberInput
              label={t("Rated from")}
              min={0}
              max={1}
              step={0.5}
              placeholder={t("Any")}
              {...form.getInputProps("minScore")}
            />
          </>
        ) : (
          <NumberInput label={t("Newest")} min={1} max={10_000} {...form.getInputProps("limit")} />
        )}
        <Select
          label={t("Of the model")}
          placeholder={t("Any")}
          clearable
          data={models}
          {...form.getInputProps("ofModel")}
        />
      </SimpleGrid>
      {source === "recorded" && (
        <Text size="xs" c="dimmed">
          {t("Copies recorded prompts and answers of this project into a file, which the audit log notes.")}
        </Text>
      )}
    </>
  );
}

/** Labels and versions of a prompt as `name@version`. */
function versionsOf({ name, labels, latest_version: latest }: StoredPrompt): string[] {
  const count = Math.min(latest, MAX_LISTED_VERSIONS);
  const numbers = Array.from({ length: count }, (_, index) => String(latest - index));
  return [...Object.keys(labels), ...numbers].map((version) => `${name}@${version}`);
}
