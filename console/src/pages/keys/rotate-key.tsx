import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { keyPath } from "../projects/projects-api.ts";
import { KEYS, type ListedKey } from "./key-list.tsx";
import { onceOnly, SecretOnce } from "./secret-once.tsx";

/** Replaces a key by another one, which is shown once; the old one goes on for a day. */
export function RotateKey({ project, rotated, onClose }: { project: string; rotated: ListedKey; onClose: () => void }) {
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: async () => {
      const path = `${keyPath(project, rotated.id)}/rotate`;
      const { value } = await request<Answers["CreatedProjectApiKey"]>(path, { method: "POST", body: {} });
      await client.invalidateQueries({ queryKey: KEYS });
      return value;
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Rotate {{name}}", { name: rotated.name })}
      size="lg"
      {...onceOnly(rotate.data !== undefined)}
    >
      <Stack>
        <ErrorAlert error={rotate.error} />
        {rotate.data === undefined ? (
          <Text>{t("You get another key. The old one goes on working for a day, in which you replace it.")}</Text>
        ) : (
          <SecretOnce secret={rotate.data} callsModels />
        )}
        <Group justify="flex-end">
          {rotate.data === undefined ? (
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              {t("Rotate key")}
            </Button>
          ) : (
            <Button onClick={onClose}>{t("Done")}</Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
