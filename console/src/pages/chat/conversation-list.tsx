import { ActionIcon, Alert, Button, Group, NavLink, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState, useSyncExternalStore } from "react";
import { sessionQuery } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo } from "../../components/format.ts";
import { notifyDone, notifyFailure, notifyUndo } from "../../components/notify.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconSearch, IconTrash } from "../../icons.tsx";
import { adoptConversations } from "./adopt-conversations.ts";
import { chatStore } from "./chat-store.ts";
import { chatSync } from "./chat-sync.ts";
import { StoredConversations } from "./stored-conversations.ts";
import { useChatSync } from "./use-chat.ts";

const EarlierChats = lazy(async () => ({ default: (await import("./earlier-chats.tsx")).EarlierChats }));

export interface ConversationListProps {
  /** ID of the conversation that is open. */
  current: string;
  onOpen(id: string): void;
  /** Returns how to undo it. */
  onDelete(id: string): () => void;
}

/** A search is of use from this many conversations on. */
const MIN_SEARCHED = 8;
/** More are found by a search. */
const MAX_SHOWN = 200;

/** Titles of the conversations, newest first; the same list until one of them changes. */
function useTitles() {
  const sync = useChatSync();
  const text = useSyncExternalStore(chatStore.subscribe, () => JSON.stringify(chatStore.stored.list()));
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when either store has changed
  return useMemo(() => chatSync.titles(), [sync, text]);
}

/** Conversations with a search, the newest first. */
export function ConversationList({ current, onOpen, onDelete }: ConversationListProps) {
  const { mode, isOffline, problems } = useChatSync();
  const titles = useTitles();
  const [search, setSearch] = useState("");
  const matches = titles.filter(({ title }) => title.toLowerCase().includes(search.trim().toLowerCase()));
  const remove = (id: string) => notifyUndo(t("Conversation deleted"), onDelete(id));
  return (
    <Stack gap="sm">
      {mode === "account" && <BrowserConversations />}
      <UnsavedAccount />
      {mode === "account" && (
        <Text size="xs" c="dimmed" role="status">
          {isOffline
            ? t("The service cannot be reached. What you write stays in this browser until it can.")
            : t("Only you can read them. They are on every device on which you sign in.")}
        </Text>
      )}
      {titles.length >= MIN_SEARCHED && (
        <TextInput
          size="xs"
          aria-label={t("Search conversations")}
          placeholder={t("Search by title")}
          leftSection={<IconSearch size={14} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {titles.length === 0 && <Text c="dimmed">{t("Your conversations appear here.")}</Text>}
      {titles.length > 0 && matches.length === 0 && <Text c="dimmed">{t("No conversation has this title.")}</Text>}
      <Stack gap={2}>
        {matches.slice(0, MAX_SHOWN).map(({ id, title, changedAt }) => (
          <Group key={id} gap={4} wrap="nowrap">
            <NavLink
              component="button"
              aria-current={id === current}
              label={title}
              fw={id === current ? 600 : undefined}
              description={problems.has(id) ? t("Only in this browser") : formatAgo(changedAt / 1000)}
              onClick={() => onOpen(id)}
              styles={{ body: { minWidth: 0 } }}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={t("Delete {{title}}", { title })}
              onClick={() => remove(id)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
      </Stack>
      {matches.length > MAX_SHOWN && (
        <Text size="xs" c="dimmed">
          {t("Search by title for older ones.")}
        </Text>
      )}
      {mode === "account" && titles.length > 0 && (
        <Group justify="flex-end">
          <ConfirmButton
            question={t("Delete all conversations?")}
            consequence={t(
              "All your conversations in this project are deleted, on every device. This cannot be undone.",
            )}
            onConfirm={() => chatSync.removeAll()}
          >
            {t("Delete all")}
          </ConfirmButton>
        </Group>
      )}
    </Stack>
  );
}

/** Shows what the service stored of a person before it stopped saving chats. */
function UnsavedAccount() {
  const { data: session } = useQuery(sessionQuery);
  if (!session?.signed_in || session.saves_chats || session.user === null || session.project === null) return null;
  return (
    <Suspense>
      <EarlierChats key={session.project.id} projectId={session.project.id} />
    </Suspense>
  );
}

/** Offers to move conversations that belong to the browser, from before the person signed in. */
function BrowserConversations() {
  const [count, setCount] = useState(() => new StoredConversations(null).list().length);
  const move = useMutation({
    mutationFn: () => {
      adoptConversations();
      return chatSync.sync();
    },
    onSuccess: () => {
      setCount(new StoredConversations(null).list().length);
      const refused = chatSync.state().problems.size;
      if (refused === 0) notifyDone(t("The conversations are in your account"));
      else notifyFailure(new Error(t("Some conversations are too large for your account. They stay in this browser.")));
    },
    onError: notifyFailure,
  });
  if (count === 0) return null;
  return (
    <Alert color="gray" p="sm">
      <Text size="sm">
        {plural(
          count,
          "{{count}} conversation is only in this browser, where everybody who uses it can read it.",
          "{{count}} conversations are only in this browser, where everybody who uses it can read them.",
        )}
      </Text>
      <Button mt="xs" size="compact-sm" variant="default" loading={move.isPending} onClick={() => move.mutate()}>
        {t("Move to your account")}
      </Button>
    </Alert>
  );
}
