import { FileInput, Select } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatBytes } from "../../components/format.ts";
import { msg, plural, t } from "../../i18n/translate.ts";
import { IconUpload } from "../../icons.tsx";
import { filesQuery, PURPOSES, type Purpose, UPLOAD_PURPOSES, uploadFile } from "./files-api.ts";

const DAY_SECONDS = 86_400;
const EXPIRIES = [
  { value: "", label: msg("As long as files are kept") },
  { value: "3600", label: msg("1 hour") },
  { value: String(DAY_SECONDS), label: msg("1 day") },
  { value: String(7 * DAY_SECONDS), label: msg("7 days") },
  { value: String(30 * DAY_SECONDS), label: msg("30 days") },
];

interface UploadDialogProps {
  /** Files that were dropped. */
  initial: readonly File[];
  onClose: () => void;
}

export function UploadDialog({ initial, onClose }: UploadDialogProps) {
  return (
    <FormDialog
      title={t("Upload files")}
      action={t("Upload")}
      onClose={onClose}
      initial={{ files: [...initial], purpose: purposeOf(initial[0]), expiry: "" }}
      isReady={({ files }) => files.length > 0}
      save={async ({ files, purpose, expiry }) => {
        for (const file of files) {
          await uploadFile({ file, purpose, expiresAfterSeconds: expiry === "" ? undefined : Number(expiry) });
        }
      }}
      done={({ files }) =>
        plural(files.length, "{{name}} is stored", "{{count}} files are stored", { name: files[0]?.name ?? "" })
      }
      parameters={{ file: "files", expires_after: "expiry" }}
      changes={[filesQuery.queryKey]}
    >
      {(form) => {
        const { files } = form.values;
        return (
          <>
            <FileInput
              label={t("Files")}
              multiple
              placeholder={t("Choose files")}
              leftSection={<IconUpload size={16} />}
              {...form.getInputProps("files")}
              onChange={(next) => {
                form.setFieldValue("files", next);
                form.setFieldValue("purpose", purposeOf(next[0]));
              }}
              {...(files.length > 0 && { description: formatBytes(files.reduce((sum, { size }) => sum + size, 0)) })}
            />
            <Select
              label={t("Purpose")}
              allowDeselect={false}
              data={UPLOAD_PURPOSES.map((value) => ({ value, label: t(PURPOSES[value]) }))}
              {...form.getInputProps("purpose")}
            />
            <Select
              label={t("Expires after")}
              allowDeselect={false}
              data={EXPIRIES.map(({ value, label }) => ({ value, label: t(label) }))}
              {...form.getInputProps("expiry")}
            />
          </>
        );
      }}
    </FormDialog>
  );
}

/** The purpose that the name of a file suggests. */
function purposeOf(file: File | undefined): Purpose {
  if (file === undefined) return "user_data";
  if (file.type.startsWith("image/")) return "vision";
  return file.name.endsWith(".jsonl") ? "batch" : "user_data";
}
