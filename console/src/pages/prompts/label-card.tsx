import { Button, Card, Group, NativeSelect, Text, TextInput, Title } from "@mantine/core";
import { AddForm } from "../../components/add-form.tsx";
import { t } from "../../i18n/translate.ts";
import { moveLabel, PRODUCTION, PROMPT_QUERIES, type StoredPrompt } from "./prompts-api.ts";
import { useMoveLabel } from "./use-move-label.ts";

interface LabelCardProps {
  prompt: StoredPrompt;
  isWriter: boolean;
}

/** Which version each label names; choosing another one moves the label at once. */
export function LabelCard({ prompt, isWriter }: LabelCardProps) {
  const { move, remove } = useMoveLabel(prompt);
  const versions = Array.from({ length: prompt.latest_version }, (_, index) => prompt.latest_version - index);
  const labels = Object.entries(prompt.labels).toSorted(
    ([a], [b]) => Number(b === PRODUCTION) - Number(a === PRODUCTION),
  );
  return (
    <Card>
      <Title order={2}>{t("Labels")}</Title>
      <Text size="sm" c="dimmed" mb="sm">
        {prompt.labels[PRODUCTION] === undefined
          ? t(
              "Requests without a version use {{label}}, which this prompt lacks: they get the newest version. A label moves for every replica at once.",
              { label: PRODUCTION },
            )
          : t("Requests without a version use {{label}}. A label moves for every replica at once.", {
              label: PRODUCTION,
            })}
      </Text>
      <Group gap="lg" align="flex-end">
        {labels.map(([label, version]) => (
          <Group key={label} gap={4} align="flex-end">
            <NativeSelect
              label={label}
              size="xs"
              disabled={!isWriter}
              value={String(version)}
              data={versions.map((each) => ({
                value: String(each),
                label: t("Version {{version}}", { version: String(each) }),
              }))}
              onChange={(event) => move.mutate({ label, version: Number(event.currentTarget.value) })}
            />
            {isWriter && label !== PRODUCTION && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                mb={3}
                aria-label={t("Remove the label {{label}}", { label })}
                onClick={() => remove.mutate(label)}
              >
                {t("Remove")}
              </Button>
            )}
          </Group>
        ))}
        {isWriter && <NewLabel add={(label) => moveLabel(prompt.id, label, prompt.latest_version)} />}
      </Group>
    </Card>
  );
}

function NewLabel({ add }: { add: (label: string) => Promise<unknown> }) {
  return (
    <AddForm
      action={t("Add label")}
      size="xs"
      initial={{ label: "" }}
      save={({ label }) => add(label.trim())}
      changes={PROMPT_QUERIES}
    >
      {(form) => (
        <TextInput
          size="xs"
          w={130}
          aria-label={t("New label")}
          // untranslated: a name
          placeholder="staging"
          required
          {...form.getInputProps("label")}
        />
      )}
    </AddForm>
  );
}
