import { Badge, Button, Group, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, ResourceTable } from "../../components/resource-table.tsx";
import { msg, t } from "../../i18n/translate.ts";
import { CONFIGURATION_QUERIES, type Entry, pathOf } from "./connections-api.ts";
import { EditEntry } from "./edit-entry.tsx";

const ModelForm = lazy(async () => ({ default: (await import("./model-form.tsx")).ModelForm }));

const STATUS = {
  in_force: { color: "teal", label: msg("In force") },
  shadowed: { color: "gray", label: msg("Shadowed") },
  invalid: { color: "red", label: msg("Not applied") },
  ignored: { color: "gray", label: msg("Ignored") },
} as const;

interface EntryTableProps {
  title: string;
  /** Stands beside the title. */
  tools?: ReactNode;
  entries: readonly Entry[];
  mayChange: boolean;
  /** Further columns. */
  columns?: readonly Column<Entry>[];
  empty: ReactNode;
}

/** Entries of the file, which are locked, and of the API. */
export function EntryTable({ title, tools, entries, mayChange, columns = [], empty }: EntryTableProps) {
  return (
    <ResourceTable
      title={title}
      tools={tools}
      rows={entries}
      keyOf={({ source, id }) => `${source} ${id}`}
      minWidth={640}
      empty={empty}
      columns={[
        { label: t("Name"), className: "wrap-anywhere", sortBy: ({ name }) => name, cell: ({ name }) => name },
        ...columns,
        { label: t("Source"), cell: ({ source }) => (source === "file" ? t("parlance.yaml (locked)") : "API") },
        { label: t("Status"), cell: (entry) => <EntryStatus entry={entry} /> },
      ]}
      actions={(entry) => <EntryActions entry={entry} mayChange={mayChange} />}
    />
  );
}

function EntryStatus({ entry: { status, problem } }: { entry: Entry }) {
  return (
    <>
      <Badge variant="dot" color={STATUS[status].color} tt="none">
        {t(STATUS[status].label)}
      </Badge>
      {problem !== null && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {problem}
        </Text>
      )}
    </>
  );
}

/** Shows or changes an entry, and removes one of the API. */
export function EntryActions({ entry, mayChange }: { entry: Entry; mayChange: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const { name } = entry;
  const isEditable = entry.source === "api" && mayChange;
  const close = () => setIsOpen(false);
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={isEditable ? t("Edit {{name}}", { name }) : t("Show {{name}}", { name })}
        onClick={() => setIsOpen(true)}
      >
        {isEditable ? t("Edit") : t("Show")}
      </Button>
      {isEditable && (
        <ConfirmButton
          aria-label={t("Remove {{name}}", { name })}
          question={t("Remove {{name}}?", { name })}
          consequence={t("Requests that run end normally, further ones are refused. The history can restore it.")}
          onConfirm={() =>
            request(entry.kind === "model" ? `${pathOf(entry)}/entry` : pathOf(entry), { method: "DELETE" })
          }
          done={t("{{name}} is removed", { name })}
          changes={CONFIGURATION_QUERIES}
        >
          {t("Remove")}
        </ConfirmButton>
      )}
      {isOpen && isEditable && entry.kind === "model" && (
        <Suspense>
          <ModelForm entry={entry} close={close} />
        </Suspense>
      )}
      {isOpen && !(isEditable && entry.kind === "model") && (
        <EditEntry entry={entry} isLocked={!isEditable} close={close} />
      )}
    </Group>
  );
}
