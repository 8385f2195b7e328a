import { Badge, Button, Card, Group, Select, TextInput } from "@mantine/core";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useSession } from "../../api/session.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatDateTime, formatUntil } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { type Column, ResourceTable } from "../../components/resource-table.tsx";
import { RowAction } from "../../components/row-action.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { useSave } from "../../components/use-save.ts";
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
        <FileTable query={query} search={search} purpose={purpose} />
      </Card>
      {uploads !== undefined && <UploadDialog initial={uploads} onClose={() => setUploads(undefined)} />}
    </Page>
  );
}

interface FileTableProps {
  query: UseQueryResult<StoredFile[]>;
  search: string;
  purpose: string;
}

function FileTable({ query, search, purpose }: FileTableProps) {
  const [removed, setRemoved] = useState<StoredFile>();
  const { mutate: download } = useSave({ save: ({ id, filename }: StoredFile) => downloadContent(id, filename) });
  const needle = search.trim().toLowerCase();
  const files = query.data?.filter(
    (file) =>
      `${file.filename} ${file.id}`.toLowerCase().includes(needle) && (purpose === "" || file.purpose === purpose),
  );
  const actions = useMemo(
    () => (file: StoredFile) => (
      <>
        <RowAction onClick={() => download(file)}>{t("Download")}</RowAction>
        <RowAction isDestructive onClick={() => setRemoved(file)}>
          {t("Delete")}
        </RowAction>
      </>
    ),
    [download],
  );
  const isFiltered = query.data !== undefined && query.data.length > 0;
  const bytes = files?.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
  return (
    <>
      <ResourceTable
        isBare
        query={query}
        rows={files}
        keyOf={({ id }) => id}
        rowHeight={57}
        minWidth={760}
        caption={`${plural(files?.length ?? 0, "{{count}} file", "{{count}} files")}, ${formatBytes(bytes)}`}
        columns={fileColumns()}
        actions={actions}
        empty={
          <Empty icon={<IconFile />} title={isFiltered ? t("No file matches") : t("No files yet")}>
            {!isFiltered && t("Drop files here, or upload the input of a batch, documents for chats, or images.")}
          </Empty>
        }
      />
      {removed !== undefined && (
        <ConfirmDialog
          onClose={() => setRemoved(undefined)}
          question={t("Delete {{name}}?", { name: removed.filename })}
          consequence={t("Its content is removed from the service. Batches and vector stores that need it fail.")}
          action={t("Delete")}
          onConfirm={() => deleteFile(removed.id)}
          done={t("{{name}} is deleted", { name: removed.filename })}
          changes={[filesQuery.queryKey]}
        />
      )}
    </>
  );
}

function fileColumns(): Column<StoredFile>[] {
  return [
    {
      label: t("File"),
      className: "cell-name cell-file wrap-anywhere",
      sortBy: ({ filename }) => filename,
      cell: ({ id, filename }) => (
        <>
          {filename}
          <div className="cell-code cell-detail">{id}</div>
        </>
      ),
    },
    {
      label: t("Purpose"),
      cell: ({ purpose }) => (
        <Badge variant="light" color={purpose === "batch_output" ? "apricot" : "pine"} tt="none" miw="max-content">
          {t(PURPOSES[purpose])}
        </Badge>
      ),
    },
    { label: t("Size"), isNumeric: true, sortBy: ({ bytes }) => bytes, cell: ({ bytes }) => formatBytes(bytes) },
    {
      label: t("Created"),
      className: "nowrap",
      sortBy: ({ created_at: time }) => time,
      hint: ({ created_at: time }) => formatDateTime(time),
      cell: ({ created_at: time }) => formatAgo(time),
    },
    {
      label: t("Expires"),
      className: "nowrap",
      sortBy: ({ expires_at: time }) => time,
      hint: ({ expires_at: time }) => formatDateTime(time),
      cell: ({ expires_at: time }) => formatUntil(time),
    },
  ];
}
