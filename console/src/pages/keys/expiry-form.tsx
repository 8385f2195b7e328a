import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatDateTime } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { t } from "../../i18n/translate.ts";
import { ExpiryField } from "./expiry-field.tsx";

interface ExpiryFormProps {
  /** Sets the expiry, counted from now; null: never. */
  save: (seconds: number | null) => Promise<unknown>;
  onSaved: () => void;
}

export function ExpiryForm({ save, onSaved }: ExpiryFormProps) {
  const [seconds, setSeconds] = useState<number | null | undefined>(null);
  const action = useMutation({
    mutationFn: save,
    onSuccess: () => {
      notifyDone(t("Expiry saved"));
      onSaved();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (seconds !== undefined) action.mutate(seconds);
      }}
    >
      <Stack>
        <ExpiryField onChange={setSeconds} />
        <Text size="sm" c="dimmed">
          {seconds === null
            ? t("The key works until it is revoked.")
            : seconds !== undefined &&
              t("Programs that use it get a 401 from {{dateTime}} on. An expired key cannot be renewed.", {
                dateTime: formatDateTime(Date.now() / 1000 + seconds),
              })}
        </Text>
        <ErrorAlert error={action.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={action.isPending} disabled={seconds === undefined}>
            {t("Save expiry")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
