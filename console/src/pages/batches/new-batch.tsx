import { Badge, Button, FileInput, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { notifyDone } from "../../components/notify.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconUpload } from "../../icons.tsx";
import { filesQuery } from "../files/files-api.ts";
import { type Batch, createBatch, ENDPOINTS, type InputSummary, summarizeInput } from "./batches-api.ts";

/** Larger inputs are not read in the browser; the service checks every line anyway. */
const MAX_SUMMARY_BYTES = 50e6;

const EXAMPLE = `{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions",
 "body": {"model": "…", "messages": [{"role": "user", "content": "…"}]}}`;

interface NewBatchProps {
  onClose: () => void;
  onCreated: () => Promise<unknown>;
}

export function NewBatch({ onClose, onCreated }: NewBatchProps) {
  const [file, setFile] = useState<File | null>(null);
  const [stored, setStored] = useState<string | null>(null);
  const [endpoint, setEndpoint] = useState<Batch["endpoint"]>("/v1/chat/completions");
  const [description, setDescription] = useState("");
  const [summary, setSummary] = useState<InputSummary>();
  const files = useQuery(filesQuery);
  const inputs = (files.data ?? []).filter(({ purpose }) => purpose === "batch");
  const choose = async (next: File | null) => {
    setFile(next);
    setSummary(undefined);
    if (next === null || next.size > MAX_SUMMARY_BYTES) return;
    const read = summarizeInput(await next.text());
    setSummary(read);
    if (read.endpoint !== undefined) setEndpoint(read.endpoint);
  };
  const create = useMutation({
    mutationFn: () => createBatch({ input: file ?? stored ?? "", endpoint, description }),
    onSuccess: async () => {
      notifyDone(t("The batch is created"));
      onClose();
      await onCreated();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("New batch")} size="lg">
      <Stack>
        <FileInput
          label={t("Requests")}
          description={t("JSON Lines, one request a line")}
          placeholder={t("Choose a file")}
          accept=".jsonl,.ndjson,application/jsonl"
          leftSection={<IconUpload size={16} />}
          clearable
          value={file}
          onChange={(next) => void choose(next)}
        />
        {summary !== undefined && <Summary summary={summary} />}
        {file === null && inputs.length > 0 && (
          <Select
            label={t("Or a stored file")}
            clearable
            searchable
            data={inputs.map(({ id, filename }) => ({ value: id, label: `${filename} (${id.slice(-6)})` }))}
            value={stored}
            onChange={setStored}
          />
        )}
        {file === null && <CodeBlock text={EXAMPLE} />}
        <Group grow align="flex-start">
          <Select
            label={t("Endpoint")}
            allowDeselect={false}
            data={[...ENDPOINTS]}
            value={endpoint}
            onChange={(next) => setEndpoint(next ?? endpoint)}
          />
          <TextInput
            label={t("Description")}
            placeholder={t("Optional")}
            maxLength={200}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
        </Group>
        <ErrorAlert error={create.error} />
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {t("Runs with the capacity that interactive requests do not use.")}
          </Text>
          <Button
            disabled={file === null && stored === null}
            loading={create.isPending}
            onClick={() => create.mutate()}
          >
            {t("Create batch")}
          </Button>
        </Group>
      </Stack>
    </Modal>
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
