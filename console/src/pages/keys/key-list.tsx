// Not part of the first load.
import type { Answers } from "../../api/answers.ts";
import { useLanguage } from "../../i18n/change-language.ts";
import { t } from "../../i18n/translate.ts";
import "@fontsource-variable/geist-mono/wght.css";
import { Group, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useMemo, useState } from "react";
import { useEntries } from "../../api/use-entries.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { IconKey } from "../../icons.tsx";
import { Expiry } from "./expiry.tsx";

export type ListedKey = Answers["ProjectApiKey"] | Answers["AdminApiKey"];

/** Prefix of the queries that list keys, to be invalidated after a change. */
export const KEYS = ["keys"];

interface KeyListProps {
  /** Path of the list. */
  path: string;
  /** Stands beside the search. */
  newKey: ReactNode;
  /** What a list without keys says. */
  whenEmpty: string;
  /** Buttons of a row; keep the function between renders. */
  actions: (key: ListedKey) => ReactNode;
  /** Service account of a key; undefined: the list has no such column. */
  ownerOf?: (key: ListedKey) => ReactNode;
  /** Leaves keys out; keep the function between renders. */
  shows?: (key: ListedKey) => boolean;
}

/** Keys of any owner, newest first, which are searched by the service and read as one scrolls. */
export function KeyList({ path, newKey, whenEmpty, actions, ownerOf, shows }: KeyListProps) {
  const [search, setSearch] = useState("");
  const [debounced] = useDebouncedValue(search.trim(), 200);
  const { query, entries: all } = useEntries<ListedKey>(KEYS, path, { order: "desc", search: debounced });
  const entries = useMemo(() => (shows === undefined ? all : all?.filter(shows)), [all, shows]);
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the labels are those of the language
  const columns = useMemo(
    () => [
      {
        label: t("Name"),
        className: "wrap-anywhere cell-name",
        cell: (key: ListedKey) => (
          <>
            {key.name}
            {"permissions" in key && <div className="cell-detail">{key.permissions?.join(", ")}</div>}
          </>
        ),
      },
      ownerOf !== undefined && { label: t("Service account"), className: "wrap-anywhere", cell: ownerOf },
      { label: t("Key"), className: "cell-code", cell: (key: ListedKey) => key.redacted_value },
      { label: t("Created"), className: "nowrap", cell: (key: ListedKey) => formatDate(key.created_at) },
      {
        label: t("Last used"),
        className: "nowrap",
        cell: ({ last_used_at: time }: ListedKey) => (time === null ? t("Never") : formatAgo(time)),
      },
      { label: t("Expires"), className: "nowrap", cell: (key: ListedKey) => <Expiry at={key.expires_at} /> },
    ],
    [ownerOf, language],
  );
  return (
    <Stack>
      <Group justify="space-between" gap="sm">
        <TextInput
          aria-label={t("Search keys")}
          placeholder={t("Search by name or last four characters")}
          miw={280}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        {newKey}
      </Group>
      <ResourceTable
        query={query}
        rows={entries}
        keyOf={({ id }) => id}
        rowHeight={44}
        minWidth={ownerOf === undefined ? 860 : 980}
        columns={columns}
        actions={actions}
        empty={
          <Empty icon={<IconKey />} title={debounced === "" ? t("No keys yet") : t("No key matches")}>
            {debounced === "" && whenEmpty}
          </Empty>
        }
      />
    </Stack>
  );
}
