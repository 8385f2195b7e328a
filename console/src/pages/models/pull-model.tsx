import { Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { libraryQuery, startPull } from "./library-query.ts";

/** Downloads a model by its ID, for administrators of the installation. */
export function PullModel() {
  const session = useSession();
  const navigate = useNavigate();
  if (!session.is_admin || !session.organization.is_default) return null;
  return (
    <DialogButton label={t("Pull a model")} variant="default" leftSection={<IconDownload size={16} />}>
      {(close) => (
        <FormDialog
          title={t("Pull a model")}
          action={t("Pull")}
          onClose={close}
          initial={{ id: "" }}
          save={({ id }) => startPull(id.trim())}
          parameters={{ model: "id" }}
          changes={[libraryQuery.queryKey]}
          onSaved={(_pull, { id }) =>
            void navigate({ to: "/models", search: { view: "library", search: id.trim() } as never })
          }
        >
          {(form) => (
            <>
              <TextInput
                label={t("Model ID")}
                description={t(
                  "A built-in model, or a GGUF file as hf:owner/repo/file.gguf. `parlance models list --all` lists the built-in ones.",
                )}
                data-autofocus
                required
                {...form.getInputProps("id")}
              />
              <Text size="sm" c="dimmed">
                {t("The download goes on when this page is closed; the library shows its progress.")}
              </Text>
            </>
          )}
        </FormDialog>
      )}
    </DialogButton>
  );
}
