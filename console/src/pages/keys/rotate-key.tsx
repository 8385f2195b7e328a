import { Text } from "@mantine/core";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { keyPath } from "../projects/projects-api.ts";
import { KEYS, type ListedKey } from "./key-list.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** Replaces a key by another one, which is shown once; the old one goes on for a day. */
export function RotateKey({ project, rotated, onClose }: { project: string; rotated: ListedKey; onClose: () => void }) {
  return (
    <FormDialog
      title={t("Rotate {{name}}", { name: rotated.name })}
      action={t("Rotate key")}
      size="lg"
      onClose={onClose}
      initial={{}}
      save={() =>
        request<Answers["CreatedProjectApiKey"]>(`${keyPath(project, rotated.id)}/rotate`, { method: "POST", body: {} })
      }
      changes={[KEYS]}
      outcome={({ value }) => <SecretOnce secret={value} callsModels />}
    >
      <Text>{t("You get another key. The old one goes on working for a day, in which you replace it.")}</Text>
    </FormDialog>
  );
}
