import { Text } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatDateTime } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { KEYS } from "./key-list.tsx";

interface ExpiryDialogProps {
  name: string;
  /** Sets the expiry, counted from now; null: never. */
  save: (seconds: number | null) => Promise<unknown>;
  onClose: () => void;
}

/** Sets when a key expires. */
export function ExpiryDialog({ name, save, onClose }: ExpiryDialogProps) {
  return (
    <FormDialog<{ seconds: number | null | undefined }, unknown>
      title={t("Expiry of {{name}}", { name })}
      action={t("Save expiry")}
      onClose={onClose}
      initial={{ seconds: null }}
      isReady={({ seconds }) => seconds !== undefined}
      save={({ seconds }) => save(seconds ?? null)}
      done={() => t("Expiry saved")}
      parameters={{ expires_in_seconds: "seconds" }}
      changes={[KEYS]}
    >
      {(form) => {
        const { seconds } = form.values;
        return (
          <>
            <ExpiryField
              error={form.errors.seconds}
              onChange={(next) => form.setFieldValue("seconds", next as never)}
            />
            <Text size="sm" c="dimmed">
              {seconds === null
                ? t("The key works until it is revoked.")
                : seconds !== undefined &&
                  t("Programs that use it get a 401 from {{dateTime}} on. An expired key cannot be renewed.", {
                    dateTime: formatDateTime(Date.now() / 1000 + seconds),
                  })}
            </Text>
          </>
        );
      }}
    </FormDialog>
  );
}
