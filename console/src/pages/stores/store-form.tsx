import { NumberInput, Select, type SelectProps, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/models.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { type Store, saveStore, storesQuery } from "./stores-api.ts";

const MAX_DAYS = 365;
/** The built-in model for texts that are not English. */
const MULTILINGUAL = "multilingual-e5-small";

interface StoreFormProps {
  /** Undefined: a new store. */
  store?: Store | undefined;
  onClose: () => void;
  onSaved?: (store: Store) => void;
}

/** Name and expiry of a store, and the model of a new one. */
export function StoreForm({ store, onClose, onSaved }: StoreFormProps) {
  return (
    <FormDialog<{ name: string; days: number | ""; model: string | null }, Store>
      title={store === undefined ? t("New vector store") : t("Settings of the store")}
      action={store === undefined ? t("Create store") : t("Save")}
      onClose={onClose}
      initial={{ name: store?.name ?? "", days: store?.expires_after?.days ?? "", model: null }}
      save={({ name, days, model }) =>
        saveStore(store?.id, { name, days: days === "" ? undefined : days, embeddingModel: model ?? undefined })
      }
      parameters={{ expires_after: "days", embedding_model: "model" }}
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
          {store === undefined && <EmbeddingModel {...form.getInputProps("model")} />}
        </>
      )}
    </FormDialog>
  );
}

/** Says what the choice costs, because it cannot be changed later. */
function EmbeddingModel(input: Pick<SelectProps, "value" | "onChange" | "error">) {
  const { data: models = [] } = useQuery(modelsQuery);
  const ids = models.filter(({ metadata }) => metadata.task === "embedding").map(({ id }) => id);
  const description = ids.includes(MULTILINGUAL)
    ? t("It stays with the store. For texts that are not English, {{model}} finds more, at twice the CPU time.", {
        model: MULTILINGUAL,
      })
    : t(
        "It stays with the store. For texts that are not English, {{model}} finds more, at twice the CPU time: an administrator pulls it first (72 MB).",
        { model: MULTILINGUAL },
      );
  return (
    <Select
      label={t("Embedding model")}
      description={description}
      placeholder={t("The default of the service")}
      data={ids}
      clearable
      {...input}
    />
  );
}
