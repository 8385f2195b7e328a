import { Textarea } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
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
  return (
    <FormDialog
      title={t("Attributes of {{name}}", { name })}
      action={t("Save")}
      onClose={onClose}
      initial={{ lines: writeAttributes(file.attributes ?? {}) }}
      save={async ({ lines }) => saveAttributes(store, file.id, parseAttributes(lines))}
      parameters={{ attributes: "lines" }}
      changes={[storesQuery.queryKey]}
    >
      {(form) => (
        <Textarea
          label={t("Attributes, one per line")}
          description={t("Such as year: 2026 or team: sales")}
          autosize
          minRows={4}
          data-autofocus
          {...form.getInputProps("lines")}
        />
      )}
    </FormDialog>
  );
}
