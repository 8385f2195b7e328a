import { Button, Group, Modal, NumberInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { type Store, saveStore, storesQuery } from "./stores-api.ts";

const MAX_DAYS = 365;

interface StoreFormProps {
  /** Undefined: a new store. */
  store?: Store | undefined;
  onClose: () => void;
  onSaved?: (store: Store) => void;
}

/** Name and expiry of a store. */
export function StoreForm({ store, onClose, onSaved }: StoreFormProps) {
  const client = useQueryClient();
  const days: number | "" = store?.expires_after?.days ?? "";
  const form = useForm({ initialValues: { name: store?.name ?? "", days } });
  const save = useMutation({
    mutationFn: (values: typeof form.values) =>
      saveStore(store?.id, { name: values.name, days: values.days === "" ? undefined : values.days }),
    onSuccess: async (saved) => {
      await client.invalidateQueries({ queryKey: storesQuery.queryKey });
      onClose();
      onSaved?.(saved);
    },
  });
  return (
    <Modal opened onClose={onClose} title={store === undefined ? t("New vector store") : t("Settings of the store")}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <TextInput label={t("Name")} required data-autofocus {...form.getInputProps("name")} />
          <NumberInput
            label={t("Expires after days without use")}
            description={t("Empty: it stays until it is deleted")}
            min={1}
            max={MAX_DAYS}
            allowDecimal={false}
            {...form.getInputProps("days")}
          />
          <ErrorAlert error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {store === undefined ? t("Create store") : t("Save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
