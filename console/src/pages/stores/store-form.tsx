import { NumberInput, TextInput } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
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
  return (
    <FormDialog<{ name: string; days: number | "" }, Store>
      title={store === undefined ? t("New vector store") : t("Settings of the store")}
      action={store === undefined ? t("Create store") : t("Save")}
      onClose={onClose}
      initial={{ name: store?.name ?? "", days: store?.expires_after?.days ?? "" }}
      save={({ name, days }) => saveStore(store?.id, { name, days: days === "" ? undefined : days })}
      parameters={{ expires_after: "days" }}
      changes={[storesQuery.queryKey]}
      onSaved={onSaved}
    >
      {(form) => (
        <>
          <TextInput label={t("Name")} required data-autofocus {...form.getInputProps("name")} />
          <NumberInput
            label={t("Expires after days without use")}
            description={t("Empty: it stays until it is deleted")}
            min={1}
            max={MAX_DAYS}
            allowDecimal={false}
            {...form.getInputProps("days")}
          />
        </>
      )}
    </FormDialog>
  );
}
