import { Button, FileInput, Group, Modal, Select, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatBytes } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
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
  const client = useQueryClient();
  const [files, setFiles] = useState<File[]>([...initial]);
  const [purpose, setPurpose] = useState<Purpose>(purposeOf(initial[0]));
  const [expiry, setExpiry] = useState("");
  const upload = useMutation({
    mutationFn: async () => {
      for (const file of files) {
        await uploadFile({ file, purpose, expiresAfterSeconds: expiry === "" ? undefined : Number(expiry) });
      }
    },
    onSuccess: () => {
      notifyDone(
        plural(files.length, "{{name}} is stored", "{{count}} files are stored", { name: files[0]?.name ?? "" }),
      );
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: filesQuery.queryKey }),
  });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <Modal opened onClose={onClose} title={t("Upload files")}>
      <Stack>
        <FileInput
          label={t("Files")}
          multiple
          placeholder={t("Choose files")}
          leftSection={<IconUpload size={16} />}
          value={files}
          onChange={(next) => {
            setFiles(next);
            setPurpose(purposeOf(next[0]));
          }}
          description={files.length === 0 ? undefined : formatBytes(bytes)}
        />
        <Select
          label={t("Purpose")}
          allowDeselect={false}
          data={UPLOAD_PURPOSES.map((value) => ({ value, label: t(PURPOSES[value]) }))}
          value={purpose}
          onChange={(next) => setPurpose(next ?? purpose)}
        />
        <Select
          label={t("Expires after")}
          allowDeselect={false}
          data={EXPIRIES.map(({ value, label }) => ({ value, label: t(label) }))}
          value={expiry}
          onChange={(next) => setExpiry(next ?? "")}
        />
        <ErrorAlert error={upload.error} />
        <Group justify="flex-end">
          <Button disabled={files.length === 0} loading={upload.isPending} onClick={() => upload.mutate()}>
            {t("Upload")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The purpose that the name of a file suggests. */
function purposeOf(file: File | undefined): Purpose {
  if (file === undefined) return "user_data";
  if (file.type.startsWith("image/")) return "vision";
  return file.name.endsWith(".jsonl") ? "batch" : "user_data";
}
