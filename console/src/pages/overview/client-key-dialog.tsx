import { TextInput } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { KEYS } from "../keys/key-list.tsx";
import { SecretOnce } from "../keys/secret-once.tsx";
import { createKey } from "../projects/projects-api.ts";

/** Creates a key for an editor or a program, and shows the lines to paste. */
export function ClientKeyDialog({ project, onClose }: { project: string; onClose: () => void }) {
  return (
    <FormDialog
      title={t("Connect your editor")}
      action={t("Create key")}
      size="lg"
      onClose={onClose}
      initial={{ name: "" }}
      save={({ name }) => createKey(project, name, null)}
      changes={[KEYS, ["first-steps"]]}
      outcome={(secret) => <SecretOnce secret={secret} callsModels />}
    >
      {(form) => (
        <TextInput
          label={t("Name")}
          description={t("Names the program that will use the key.")}
          data-autofocus
          required
          {...form.getInputProps("name")}
        />
      )}
    </FormDialog>
  );
}
