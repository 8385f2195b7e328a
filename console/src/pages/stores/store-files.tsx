import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatDateTime } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { t } from "../../i18n/translate.ts";
import { IconFile } from "../../icons.tsx";
import { filesQuery } from "../files/files-api.ts";
import { AttributesForm } from "./attributes-form.tsx";
import { ChunksDialog } from "./chunks-dialog.tsx";
import { StoreStatus } from "./store-status.tsx";
import { removeFile, type StoreFile, storeFilesQuery, storesQuery } from "./stores-api.ts";

type Dialog = { type: "chunks" | "attributes" | "remove"; file: StoreFile };

/** Files of a store, with their states and errors. */
export function StoreFiles({ store }: { store: string }) {
  const query = useQuery(storeFilesQuery(store));
  const { data: files } = useQuery(filesQuery);
  const names = useMemo(() => new Map(files?.map(({ id, filename }) => [id, filename])), [files]);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const nameOf = ({ id }: StoreFile) => names.get(id) ?? id;
  return (
    <>
      <ResourceTable
        isBare
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={720}
        empty={
          <Empty icon={<IconFile />} title={t("No files yet")}>
            {t("Files that you add are read, cut into chunks and embedded.")}
          </Empty>
        }
        columns={[
          { label: t("File"), className: "cell-name wrap-anywhere", sortBy: nameOf, cell: nameOf },
          {
            label: t("State"),
            cell: ({ status, last_error: error }) => (
              <>
                <StoreStatus status={status} />
                {error !== null && (
                  <Text size="xs" mt={2}>
                    {error.message}
                  </Text>
                )}
              </>
            ),
          },
          {
            label: t("Attributes"),
            className: "wrap-anywhere",
            cell: ({ attributes }) =>
              Object.entries(attributes ?? {})
                .map(([name, value]) => `${name}: ${value}`)
                .join(", "),
          },
          {
            label: t("Size"),
            isNumeric: true,
            sortBy: ({ usage_bytes: bytes }) => bytes,
            cell: ({ usage_bytes: bytes }) => formatBytes(bytes),
          },
          {
            label: t("Added"),
            className: "nowrap",
            sortBy: ({ created_at: time }) => time,
            hint: ({ created_at: time }) => formatDateTime(time),
            cell: ({ created_at: time }) => formatAgo(time),
          },
        ]}
        actions={(file) => (
          <>
            <RowAction onClick={() => setDialog({ type: "chunks", file })}>{t("Chunks")}</RowAction>
            <RowAction onClick={() => setDialog({ type: "attributes", file })}>{t("Attributes")}</RowAction>
            <RowAction isDestructive onClick={() => setDialog({ type: "remove", file })}>
              {t("Remove")}
            </RowAction>
          </>
        )}
      />
      {dialog?.type === "chunks" && (
        <ChunksDialog store={store} file={dialog.file.id} name={nameOf(dialog.file)} onClose={close} />
      )}
      {dialog?.type === "attributes" && (
        <AttributesForm store={store} file={dialog.file} name={nameOf(dialog.file)} onClose={close} />
      )}
      {dialog?.type === "remove" && (
        <ConfirmDialog
          onClose={close}
          question={t("Remove {{name}}?", { name: nameOf(dialog.file) })}
          consequence={t("Searches in this store no longer find it. The file stays under Files.")}
          action={t("Remove")}
          onConfirm={() => removeFile(store, dialog.file.id)}
          changes={[storesQuery.queryKey]}
        />
      )}
    </>
  );
}
