// Not part of the first load.
import type { Answers } from "../../api/answers.ts";
import { t } from "../../i18n/translate.ts";
import "@fontsource-variable/geist-mono/wght.css";
import { Card, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useEntries } from "../../api/use-entries.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { memo } from "../../i18n/memo.ts";
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
  const { query, entries: all, readMore } = useEntries<ListedKey>(KEYS, path, { order: "desc", search: debounced });
  const entries = useMemo(() => (shows === undefined ? all : all?.filter(shows)), [all, shows]);
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
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading shape="table" />}
      {entries !== undefined && (
        <Card padding={0}>
          {entries.length === 0 ? (
            <Empty icon={<IconKey />} title={debounced === "" ? t("No keys yet") : t("No key matches")}>
              {debounced === "" && whenEmpty}
            </Empty>
          ) : (
            <KeyTable keys={entries} actions={actions} onNearEnd={readMore} {...(ownerOf && { ownerOf })} />
          )}
          {query.isFetchingNextPage && (
            <Text size="sm" c="dimmed" p="sm" ta="center" role="status">
              {t("Loading older keys…")}
            </Text>
          )}
        </Card>
      )}
    </Stack>
  );
}

interface KeyTableProps extends Pick<KeyListProps, "actions" | "ownerOf"> {
  keys: readonly ListedKey[];
  onNearEnd: () => void;
}

const KeyTable = memo(function KeyTable({ keys, actions, ownerOf, onNearEnd }: KeyTableProps) {
  const columns = ownerOf === undefined ? 6 : 7;
  const cells = useCallback(
    (key: ListedKey) => (
      <>
        <td className="cell wrap-anywhere cell-name">
          {key.name}
          {"permissions" in key && <div className="cell-detail">{key.permissions?.join(", ")}</div>}
        </td>
        {ownerOf !== undefined && <td className="cell wrap-anywhere">{ownerOf(key)}</td>}
        <td className="cell cell-code">{key.redacted_value}</td>
        <td className="cell nowrap">{formatDate(key.created_at)}</td>
        <td className="cell nowrap">{key.last_used_at === null ? t("Never") : formatAgo(key.last_used_at)}</td>
        <td className="cell nowrap">
          <Expiry at={key.expires_at} />
        </td>
        <td className="cell cell-end nowrap">{actions(key)}</td>
      </>
    ),
    [actions, ownerOf],
  );
  return (
    <Table.ScrollContainer minWidth={ownerOf === undefined ? 860 : 980} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Name")}</Table.Th>
            {ownerOf !== undefined && <Table.Th>{t("Service account")}</Table.Th>}
            <Table.Th>{t("Key")}</Table.Th>
            <Table.Th>{t("Created")}</Table.Th>
            <Table.Th>{t("Last used")}</Table.Th>
            <Table.Th>{t("Expires")}</Table.Th>
            <Table.Th ta="right">{t("Actions")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <VirtualBody rows={keys} columns={columns} rowHeight={44} keyOf={({ id }) => id} onNearEnd={onNearEnd}>
          {cells}
        </VirtualBody>
      </Table>
    </Table.ScrollContainer>
  );
});
