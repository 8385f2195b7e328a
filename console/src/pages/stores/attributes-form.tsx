import { Button, Group, Modal, Stack, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { parseAttributes, writeAttributes } from "./attribute-lines.ts";
import { type StoreFile, saveAttributes, storesQuery } from "./stores-api.ts";

interface AttributesFormProps {
  store: string;
  file: StoreFile;
  name: string;
  onClose: () => void;
}

/** Attributes of a file, by which searches are filtered. */
export function AttributesForm({ store, file, name, onClose }: AttributesFormProps) {
  const client = useQueryClient();
  const [lines, setLines] = useState(writeAttributes(file.attributes ?? {}));
  const save = useMutation({
    mutationFn: () => saveAttributes(store, file.id, parseAttributes(lines)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: storesQuery.queryKey });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("Attributes of {{name}}", { name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <Textarea
            label={t("Attributes, one per line")}
            description={t("Such as year: 2026 or team: sales")}
            autosize
            minRows={4}
            data-autofocus
            value={lines}
            onChange={(event) => setLines(event.currentTarget.value)}
          />
          <ErrorAlert error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {t("Save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
