import { Badge, Button, Card, Group, Select, Table, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { useSession } from "../../api/session.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatDateTime, formatUntil } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { notifyDone, notifyFailure } from "../../components/notify.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconFile, IconUpload } from "../../icons.tsx";
import { deleteFile, downloadContent, filesQuery, PURPOSES, type StoredFile } from "./files-api.ts";
import { UploadDialog } from "./upload-dialog.tsx";

export function FilesPage() {
  const { project } = useSession();
  const query = useQuery({ ...filesQuery, enabled: project !== null });
  const [{ search, purpose }, setAddress] = useAddressState({ search: "", purpose: "" });
  const [uploads, setUploads] = useState<readonly File[]>();
  const drop = useFileDrop(setUploads);
  if (project === null) return <NeedsProjectKey />;
  const needle = search.trim().toLowerCase();
  return (
    <Page
      title={t("Files")}
      description={t("Files of {{project}}: inputs and results of batches, documents, images.", {
        project: project.name,
      })}
      actions={
        <Button leftSection={<IconUpload size={16} />} onClick={() => setUploads([])}>
          {t("Upload")}
        </Button>
      }
    >
      <Group gap="sm">
        <TextInput
          aria-label={t("Search files")}
          placeholder={t("Search by name or ID")}
          value={search}
          onChange={(event) => setAddress({ search: event.currentTarget.value }, { replace: true })}
        />
        <Select
          aria-label={t("Purpose")}
          placeholder={t("All purposes")}
          clearable
          w={240}
          data={Object.entries(PURPOSES).map(([value, label]) => ({ value, label: t(label) }))}
          value={purpose === "" ? null : purpose}
          onChange={(next) => setAddress({ purpose: next ?? "" })}
        />
      </Group>
      <Card padding={0} {...drop}>
        <QueryView query={query} loading="rows">
          {(files) => {
            const shown = files.filter(
              (file) =>
                `${file.filename} ${file.id}`.toLowerCase().includes(needle) &&
                (purpose === "" || file.purpose === purpose),
            );
            return <FileTable files={shown} isFiltered={files.length > 0} />;
          }}
        </QueryView>
      </Card>
      {uploads !== undefined && <UploadDialog initial={uploads} onClose={() => setUploads(undefined)} />}
    </Page>
  );
}

function FileTable({ files, isFiltered }: { files: StoredFile[]; isFiltered: boolean }) {
  const client = useQueryClient();
  const [removed, setRemoved] = useState<StoredFile>();
  const { mutate: download } = useMutation({
    mutationFn: ({ id, filename }: StoredFile) => downloadContent(id, filename),
    onError: notifyFailure,
  });
  const cells = useCallback(
    (file: StoredFile) => <FileCells file={file} onDownload={download} onDelete={setRemoved} />,
    [download],
  );
  if (files.length === 0) {
    return (
      <Empty icon={<IconFile />} title={isFiltered ? t("No file matches") : t("No files yet")}>
        {!isFiltered && t("Drop files here, or upload the input of a batch, documents for chats, or images.")}
      </Empty>
    );
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <>
      <Text size="xs" c="dimmed" px="sm" pt="sm" className="tabular">
        {plural(files.length, "{{count}} file", "{{count}} files")}, {formatBytes(bytes)}
      </Text>
      <Table.ScrollContainer minWidth={760} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("File")}</Table.Th>
              <Table.Th>{t("Purpose")}</Table.Th>
              <Table.Th ta="right">{t("Size")}</Table.Th>
              <Table.Th>{t("Created")}</Table.Th>
              <Table.Th>{t("Expires")}</Table.Th>
              <Table.Th>
                <VisuallyHidden>{t("Actions")}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <VirtualBody rows={files} columns={6} rowHeight={57} keyOf={({ id }) => id}>
            {cells}
          </VirtualBody>
        </Table>
      </Table.ScrollContainer>
      <ConfirmDialog
        isOpen={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        question={t("Delete {{name}}?", { name: removed?.filename ?? "" })}
        consequence={t("Its content is removed from the service. Batches and vector stores that need it fail.")}
        action={t("Delete")}
        onConfirm={async () => {
          await deleteFile(removed?.id ?? "");
          notifyDone(t("{{name}} is deleted", { name: removed?.filename ?? "" }));
          await client.invalidateQueries({ queryKey: filesQuery.queryKey });
        }}
      />
    </>
  );
}

interface FileCellsProps {
  file: StoredFile;
  onDownload: (file: StoredFile) => void;
  onDelete: (file: StoredFile) => void;
}

function FileCells({ file, onDownload, onDelete }: FileCellsProps) {
  return (
    <>
      <td className="cell cell-name cell-file wrap-anywhere">
        {file.filename}
        <div className="cell-code cell-detail">{file.id}</div>
      </td>
      <td className="cell">
        <Badge variant="light" color={file.purpose === "batch_output" ? "apricot" : "pine"} tt="none" miw="max-content">
          {t(PURPOSES[file.purpose])}
        </Badge>
      </td>
      <td className="cell cell-end tabular nowrap">{formatBytes(file.bytes)}</td>
      <td className="cell nowrap" title={formatDateTime(file.created_at)}>
        {formatAgo(file.created_at)}
      </td>
      <td className="cell nowrap" title={formatDateTime(file.expires_at)}>
        {formatUntil(file.expires_at)}
      </td>
      <td className="cell cell-end nowrap">
        <RowAction onClick={() => onDownload(file)}>{t("Download")}</RowAction>
        <RowAction isDestructive onClick={() => onDelete(file)}>
          {t("Delete")}
        </RowAction>
      </td>
    </>
  );
}
