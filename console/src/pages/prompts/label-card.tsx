import { Button, Card, Group, NativeSelect, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../i18n/translate.ts";
import { PRODUCTION, type StoredPrompt } from "./prompts-api.ts";
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
        {isWriter && <NewLabel add={(label) => move.mutateAsync({ label, version: prompt.latest_version })} />}
      </Group>
    </Card>
  );
}

function NewLabel({ add }: { add: (label: string) => Promise<unknown> }) {
  const [label, setLabel] = useState("");
  const adding = useMutation({ mutationFn: add, onSuccess: () => setLabel("") });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        adding.mutate(label.trim());
      }}
    >
      <Group gap={4} align="flex-end">
        <TextInput
          size="xs"
          w={130}
          aria-label={t("New label")}
          // untranslated: a name
          placeholder="staging"
          required
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
        <Button size="xs" variant="default" type="submit" loading={adding.isPending}>
          {t("Add label")}
        </Button>
      </Group>
    </form>
  );
}
