import { Badge, FileInput, Group, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconUpload } from "../../icons.tsx";
import { filesQuery } from "../files/files-api.ts";
import { type Batch, createBatch, ENDPOINTS, type InputSummary, summarizeInput } from "./batches-api.ts";

/** Larger inputs are not read in the browser; the service checks every line anyway. */
const MAX_SUMMARY_BYTES = 50e6;

const EXAMPLE = `{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions",
 "body": {"model": "…", "messages": [{"role": "user", "content": "…"}]}}`;

interface BatchFields {
  file: File | null;
  /** ID of a stored file. */
  stored: string | null;
  endpoint: Batch["endpoint"];
  description: string;
}

export function NewBatch({ onClose }: { onClose: () => void }) {
  const [summary, setSummary] = useState<InputSummary>();
  const files = useQuery(filesQuery);
  const inputs = (files.data ?? []).filter(({ purpose }) => purpose === "batch");
  return (
    <FormDialog<BatchFields, Batch>
      title={t("New batch")}
      action={t("Create batch")}
      size="lg"
      onClose={onClose}
      initial={{ file: null, stored: null, endpoint: "/v1/chat/completions", description: "" }}
      isReady={({ file, stored }) => file !== null || stored !== null}
      save={({ file, stored, ...fields }) => createBatch({ input: file ?? stored ?? "", ...fields })}
      done={() => t("The batch is created")}
      parameters={{ input_file_id: "file", metadata: "description" }}
      changes={[["batches"], filesQuery.queryKey]}
      aside={() => (
        <Text size="sm" c="dimmed">
          {t("Runs with the capacity that interactive requests do not use.")}
        </Text>
      )}
    >
      {(form) => {
        const { file } = form.values;
        const choose = async (next: File | null) => {
          form.setFieldValue("file", next);
          setSummary(undefined);
          if (next === null || next.size > MAX_SUMMARY_BYTES) return;
          const read = summarizeInput(await next.text());
          setSummary(read);
          if (read.endpoint !== undefined) form.setFieldValue("endpoint", read.endpoint);
        };
        return (
          <>
            <FileInput
              label={t("Requests")}
              description={t("JSON Lines, one request a line")}
              placeholder={t("Choose a file")}
              accept=".jsonl,.ndjson,application/jsonl"
              leftSection={<IconUpload size={16} />}
              clearable
              {...form.getInputProps("file")}
              onChange={(next) => void choose(next)}
            />
            {summary !== undefined && <Summary summary={summary} />}
            {file === null && inputs.length > 0 && (
              <Select
                label={t("Or a stored file")}
                clearable
                searchable
                data={inputs.map(({ id, filename }) => ({ value: id, label: `${filename} (${id.slice(-6)})` }))}
                {...form.getInputProps("stored")}
              />
            )}
            {file === null && <CodeBlock text={EXAMPLE} />}
            <Group grow align="flex-start">
              <Select
                label={t("Endpoint")}
                allowDeselect={false}
                data={[...ENDPOINTS]}
                {...form.getInputProps("endpoint")}
              />
              <TextInput
                label={t("Description")}
                placeholder={t("Optional")}
                maxLength={200}
                {...form.getInputProps("description")}
              />
            </Group>
          </>
        );
      }}
    </FormDialog>
  );
}

function Summary({ summary: { requests, models, problem } }: { summary: InputSummary }) {
  return (
    <div>
      <Group gap={6}>
        <Badge variant="light" tt="none">
          {plural(requests, "{{count}} request", "{{count}} requests")}
        </Badge>
        {models.slice(0, 5).map((model) => (
          <Badge key={model} variant="default" tt="none">
            {model}
          </Badge>
        ))}
        {models.length > 5 && (
          <Text size="xs">{plural(models.length - 5, "and {{count}} more model", "and {{count}} more models")}</Text>
        )}
      </Group>
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert" mt={4}>
          {problem}
        </Text>
      )}
    </div>
  );
}
