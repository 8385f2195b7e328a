import { Button, Card, Checkbox, Group, NumberInput, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { msg, t, translateLabels } from "../../i18n/translate.ts";
import { pathOf } from "./projects-api.ts";

type Recording = Answers["ProjectRecording"];

function recordingQuery(project: string) {
  return queryOptions({
    queryKey: ["project", project, "recording"],
    queryFn: ({ signal }) => request<Recording>(`${pathOf(project)}/recording`, { signal }),
  });
}

/** What a project records of its prompts and answers. */
export function RecordingTab({ project }: { project: string }) {
  const query = useQuery(recordingQuery(project));
  return (
    <Card maw={640}>
      <QueryView query={query}>{(recording) => <RecordingForm project={project} recording={recording} />}</QueryView>
    </Card>
  );
}

const MODES = [
  { value: "off", label: msg("Nothing") },
  { value: "errors", label: msg("Failed requests") },
  { value: "all", label: msg("All requests") },
];
const MEBIBYTE = 2 ** 20;

function RecordingForm({ project, recording }: { project: string; recording: Recording }) {
  const form = useForm({
    initialValues: {
      mode: recording.record_content as string,
      percent: 100 * recording.share,
      days: recording.keep_days,
      mebibytes: recording.max_bytes / MEBIBYTE,
      pii: recording.redact.includes("pii"),
      secrets: recording.redact.includes("secrets"),
      search: recording.search,
    },
  });
  const save = useSave({
    save: ({ mode, percent, days, mebibytes, pii, secrets, search }: typeof form.values) =>
      request(`${pathOf(project)}/recording`, {
        method: "POST",
        body: {
          record_content: mode,
          share: percent / 100,
          keep_days: days,
          max_bytes: Math.round(mebibytes * MEBIBYTE),
          redact: [...(pii ? ["pii"] : []), ...(secrets ? ["secrets"] : [])],
          search,
        },
      }),
    done: () => t("Recording saved"),
    changes: [recordingQuery(project).queryKey],
    form,
    fields: { share: "percent", keep_days: "days", max_bytes: "mebibytes" },
  });
  const isOff = form.values.mode === "off";
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <div>
          <Text size="sm" fw={500} mb={4} id="recording-mode">
            {t("Record prompts and answers of")}
          </Text>
          <SegmentedControl
            {...form.getInputProps("mode")}
            aria-labelledby="recording-mode"
            data={translateLabels(MODES)}
            fullWidth
          />
        </div>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <NumberInput
            label={t("Share (%)")}
            min={0.001}
            max={100}
            disabled={isOff}
            {...form.getInputProps("percent")}
          />
          <NumberInput label={t("Days")} min={1} max={3650} disabled={isOff} {...form.getInputProps("days")} />
          <NumberInput label={t("Maximum MiB")} min={1} disabled={isOff} {...form.getInputProps("mebibytes")} />
        </SimpleGrid>
        <Checkbox
          label={t("Mask personal data")}
          disabled={isOff}
          {...form.getInputProps("pii", { type: "checkbox" })}
        />
        <Checkbox label={t("Mask secrets")} disabled={isOff} {...form.getInputProps("secrets", { type: "checkbox" })} />
        <Checkbox
          label={t("Find requests by their words")}
          description={t("The index has keyed hashes of words.")}
          disabled={isOff}
          {...form.getInputProps("search", { type: "checkbox" })}
        />
        <Text size="sm" c="dimmed">
          {t("Applies from the next request on. Content is encrypted, and the audit log notes who looks at it.")}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t("Save recording")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
