import { TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { DialogButton } from "../../components/dialog-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { KEYS } from "./key-list.tsx";
import { SecretOnce } from "./secret-once.tsx";

interface NewKeyProps {
  label: string;
  /** Explains what the name is for. */
  description: string;
  /** Creates a key and resolves with the secret. */
  create: (name: string, expiresInSeconds: number | null) => Promise<string>;
  /** Whether the key calls models, for which a line to paste is shown. */
  callsModels: boolean;
  /** Further fields of the form. */
  children?: ReactNode;
}

export function NewKey({ label, description, create, callsModels, children }: NewKeyProps) {
  return (
    <DialogButton label={label} leftSection={<IconPlus size={16} />}>
      {(close) => (
        <FormDialog<{ name: string; seconds: number | null | undefined }, string>
          title={label}
          action={t("Create key")}
          size="lg"
          onClose={close}
          initial={{ name: "", seconds: null }}
          isReady={({ seconds }) => seconds !== undefined}
          save={({ name, seconds }) => create(name, seconds ?? null)}
          parameters={{ expires_in_seconds: "seconds" }}
          changes={[KEYS]}
          outcome={(secret) => <SecretOnce secret={secret} callsModels={callsModels} />}
        >
          {(form) => (
            <>
              <TextInput
                label={t("Name")}
                description={description}
                data-autofocus
                required
                {...form.getInputProps("name")}
              />
              <ExpiryField
                error={form.errors.seconds}
                onChange={(seconds) => form.setFieldValue("seconds", seconds as never)}
              />
              {children}
            </>
          )}
        </FormDialog>
      )}
    </DialogButton>
  );
}
