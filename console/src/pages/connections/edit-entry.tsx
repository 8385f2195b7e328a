import { JsonInput } from "@mantine/core";
import { request } from "../../api/request.ts";
import { Dialog } from "../../components/dialog.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { bodyOf, CONFIGURATION_QUERIES, type Entry, pathOf } from "./connections-api.ts";
import { isJson } from "./model-value.ts";

interface EditEntryProps {
  entry: Entry;
  isLocked: boolean;
  close: () => void;
}

/** Settings of an entry as JSON; those of the file can only be read. */
export function EditEntry({ entry, isLocked, close }: EditEntryProps) {
  const text = JSON.stringify(entry.value, undefined, 2);
  if (isLocked) {
    return (
      <Dialog title={entry.name} onClose={close} size="lg">
        <JsonInput
          label={t("Set in parlance.yaml")}
          description={t("Change the file and reload it.")}
          autosize
          minRows={8}
          maxRows={24}
          readOnly
          value={text}
        />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={entry.name}
      action={t("Save")}
      size="lg"
      onClose={close}
      initial={{ text }}
      isReady={(values) => isJson(values.text)}
      save={(values) =>
        request(pathOf(entry), {
          method: "POST",
          body: bodyOf(entry, JSON.parse(values.text)),
          headers: { "if-match": `"${entry.version}"` },
        })
      }
      done={() => t("{{name}} is changed", { name: entry.name })}
      changes={CONFIGURATION_QUERIES}
    >
      {(form) => (
        <JsonInput
          label={t("Settings, as in parlance.yaml")}
          description={t("[redacted] keeps a stored key.")}
          autosize
          minRows={8}
          maxRows={24}
          validationError={t("This is not valid JSON.")}
          {...form.getInputProps("text")}
        />
      )}
    </FormDialog>
  );
}
