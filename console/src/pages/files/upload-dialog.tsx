import { Button, FileInput, Group, Modal, Select, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatBytes } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { IconUpload } from "../../icons.tsx";
import { filesQuery, PURPOSES, type Purpose, UPLOAD_PURPOSES, uploadFile } from "./files-api.ts";

const DAY_SECONDS = 86_400;
const EXPIRIES = [
  { value: "", label: "As long as files are kept" },
  { value: "3600", label: "1 hour" },
  { value: String(DAY_SECONDS), label: "1 day" },
  { value: String(7 * DAY_SECONDS), label: "7 days" },
  { value: String(30 * DAY_SECONDS), label: "30 days" },
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
      notifyDone(files.length === 1 ? `${files[0]?.name} is stored` : `${files.length} files are stored`);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: filesQuery.queryKey }),
  });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <Modal opened onClose={onClose} title="Upload files">
      <Stack>
        <FileInput
          label="Files"
          multiple
          placeholder="Choose files"
          leftSection={<IconUpload size={16} />}
          value={files}
          onChange={(next) => {
            setFiles(next);
            setPurpose(purposeOf(next[0]));
          }}
          description={files.length === 0 ? undefined : formatBytes(bytes)}
        />
        <Select
          label="Purpose"
          allowDeselect={false}
          data={UPLOAD_PURPOSES.map((value) => ({ value, label: PURPOSES[value] }))}
          value={purpose}
          onChange={(next) => setPurpose(next ?? purpose)}
        />
        <Select
          label="Expires after"
          allowDeselect={false}
          data={EXPIRIES}
          value={expiry}
          onChange={(next) => setExpiry(next ?? "")}
        />
        <ErrorAlert error={upload.error} />
        <Group justify="flex-end">
          <Button disabled={files.length === 0} loading={upload.isPending} onClick={() => upload.mutate()}>
            Upload
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
