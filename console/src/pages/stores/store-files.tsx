import { Table, Text, VisuallyHidden } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatDateTime } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
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
  const client = useQueryClient();
  const query = useQuery(storeFilesQuery(store));
  const { data: files } = useQuery(filesQuery);
  const names = useMemo(() => new Map(files?.map(({ id, filename }) => [id, filename])), [files]);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const nameOf = ({ id }: StoreFile) => names.get(id) ?? id;
  return (
    <>
      <QueryView query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty icon={<IconFile />} title={t("No files yet")}>
              {t("Files that you add are read, cut into chunks and embedded.")}
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={720} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("File")}</Table.Th>
                    <Table.Th>{t("State")}</Table.Th>
                    <Table.Th>{t("Attributes")}</Table.Th>
                    <Table.Th ta="right">{t("Size")}</Table.Th>
                    <Table.Th>{t("Added")}</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>{t("Actions")}</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {entries.map((file) => (
                    <Table.Tr key={file.id}>
                      <Table.Td className="cell-name wrap-anywhere">{nameOf(file)}</Table.Td>
                      <Table.Td>
                        <StoreStatus status={file.status} />
                        {file.last_error !== null && (
                          <Text size="xs" mt={2}>
                            {file.last_error.message}
                          </Text>
                        )}
                      </Table.Td>
                      <Table.Td className="wrap-anywhere">
                        {Object.entries(file.attributes ?? {})
                          .map(([name, value]) => `${name}: ${value}`)
                          .join(", ")}
                      </Table.Td>
                      <Table.Td ta="right" className="tabular nowrap">
                        {formatBytes(file.usage_bytes)}
                      </Table.Td>
                      <Table.Td className="nowrap" title={formatDateTime(file.created_at)}>
                        {formatAgo(file.created_at)}
                      </Table.Td>
                      <Table.Td ta="right" className="nowrap">
                        <RowAction onClick={() => setDialog({ type: "chunks", file })}>{t("Chunks")}</RowAction>
                        <RowAction onClick={() => setDialog({ type: "attributes", file })}>{t("Attributes")}</RowAction>
                        <RowAction isDestructive onClick={() => setDialog({ type: "remove", file })}>
                          {t("Remove")}
                        </RowAction>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </QueryView>
      {dialog?.type === "chunks" && (
        <ChunksDialog store={store} file={dialog.file.id} name={nameOf(dialog.file)} onClose={close} />
      )}
      {dialog?.type === "attributes" && (
        <AttributesForm store={store} file={dialog.file} name={nameOf(dialog.file)} onClose={close} />
      )}
      <ConfirmDialog
        isOpen={dialog?.type === "remove"}
        onClose={close}
        question={t("Remove {{name}}?", { name: dialog === undefined ? "" : nameOf(dialog.file) })}
        consequence={t("Searches in this store no longer find it. The file stays under Files.")}
        action={t("Remove")}
        onConfirm={async () => {
          await removeFile(store, dialog?.file.id ?? "");
          await client.invalidateQueries({ queryKey: storesQuery.queryKey });
        }}
      />
    </>
  );
}
