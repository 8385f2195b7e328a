import { Alert, Button, Group, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState, useSyncExternalStore } from "react";
import { sessionQuery } from "../../../api/session.ts";
import { notifyDone, notifyFailure, notifyUndo } from "../../../components/notify.tsx";
import { type Message, msg, plural, t } from "../../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight, IconPlus, IconSearch } from "../../../icons.tsx";
import { chatStore } from "../chat-store.ts";
import { chatSync } from "../chat-sync.ts";
import { StoredConversations } from "../stored-conversations.ts";
import { useChatSync } from "../use-chat.ts";
import { adoptConversations } from "./adopt-conversations.ts";
import { ConversationRow } from "./conversation-row.tsx";
import { type ConversationGroup, foldersOf, groupConversations } from "./group-conversations.ts";

const ConfirmButton = lazy(async () => ({
  default: (await import("../../../components/confirm-button.tsx")).ConfirmButton,
}));
const EarlierChats = lazy(async () => ({ default: (await import("./earlier-chats.tsx")).EarlierChats }));

export interface ConversationListProps {
  /** ID of the conversation that is open. */
  current: string;
  onOpen(id: string): void;
  onNew(): void;
  /** Returns how to undo it. */
  onDelete(id: string): () => void;
}

/** More are found by a search. */
const MAX_SHOWN = 200;
const LABELS: Readonly<Record<Exclude<ConversationGroup["kind"], "folder">, Message>> = {
  pinned: msg("Pinned"),
  today: msg("Today"),
  week: msg("Previous 7 days"),
  earlier: msg("Earlier"),
};
/** Folders and groups that are folded, for as long as the page is open. */
const folded = new Set<string>();

/** Titles of the conversations, newest first; the same list until one of them changes. */
function useTitles() {
  const sync = useChatSync();
  const text = useSyncExternalStore(chatStore.subscribe, () => JSON.stringify(chatStore.stored.list()));
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when either store has changed
  return useMemo(() => chatSync.titles(), [sync, text]);
}

/** Conversations with a search, pins and folders, the newest first. */
export function ConversationList({ current, onOpen, onNew, onDelete }: ConversationListProps) {
  const { mode, isOffline, problems } = useChatSync();
  const titles = useTitles();
  const [search, setSearch] = useState("");
  const matches = titles.filter(({ title }) => title.toLowerCase().includes(search.trim().toLowerCase()));
  const folders = useMemo(() => foldersOf(titles), [titles]);
  const remove = (id: string) => notifyUndo(t("Conversation deleted"), onDelete(id));
  return (
    <Stack gap="xs" h="100%" mih={0}>
      <Button variant="default" size="xs" leftSection={<IconPlus size={15} />} onClick={onNew}>
        {t("New conversation")}
      </Button>
      <TextInput
        size="xs"
        aria-label={t("Search conversations")}
        placeholder={t("Search by title")}
        leftSection={<IconSearch size={14} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {mode === "account" && <BrowserConversations />}
      <UnsavedAccount />
      {isOffline && (
        <Text size="xs" c="dimmed" role="status">
          {t("The service cannot be reached. What you write stays in this browser until it can.")}
        </Text>
      )}
      <div className="scroll-column">
        <Stack gap={2} component="nav" aria-label={t("Conversations")}>
          {titles.length === 0 && (
            <Text size="sm" c="dimmed">
              {t("Your conversations appear here.")}
            </Text>
          )}
          {titles.length > 0 && matches.length === 0 && (
            <Text size="sm" c="dimmed">
              {t("No conversation has this title.")}
            </Text>
          )}
          {groupConversations(matches.slice(0, MAX_SHOWN), Date.now()).map((group) => (
            <FoldingGroup key={group.id} group={group} isSearching={search !== ""}>
              {group.titles.map((entry) => (
                <ConversationRow
                  key={entry.id}
                  entry={entry}
                  isOpen={entry.id === current}
                  problem={problems.get(entry.id)}
                  folders={folders}
                  onOpen={onOpen}
                  onDelete={remove}
                />
              ))}
            </FoldingGroup>
          ))}
          {matches.length > MAX_SHOWN && (
            <Text size="xs" c="dimmed">
              {t("Search by title for older ones.")}
            </Text>
          )}
        </Stack>
      </div>
      {mode === "account" && titles.length > 0 && (
        <Group justify="space-between" gap={4}>
          <Text size="xs" c="dimmed">
            {t("Only you can read them, on each of your devices.")}
          </Text>
          <Suspense>
            <ConfirmButton
              question={t("Delete all conversations?")}
              consequence={t(
                "All your conversations in this project are deleted, on every device. This cannot be undone.",
              )}
              onConfirm={() => chatSync.removeAll()}
            >
              {t("Delete all")}
            </ConfirmButton>
          </Suspense>
        </Group>
      )}
    </Stack>
  );
}

interface FoldingGroupProps {
  group: ConversationGroup;
  /** Whether a search shows what it finds, also in folded groups. */
  isSearching: boolean;
  children: React.ReactNode;
}

function FoldingGroup({ group: { id, kind, name }, isSearching, children }: FoldingGroupProps) {
  const [isFolded, setIsFolded] = useState(folded.has(id));
  const isOpen = isSearching || !isFolded;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  const toggle = () => {
    setIsFolded(!isFolded);
    if (isFolded) folded.delete(id);
    else folded.add(id);
  };
  return (
    <div className="conversation-group">
      <UnstyledButton aria-expanded={isOpen} onClick={toggle}>
        <Chevron size={12} />
        {kind === "folder" ? name : t(LABELS[kind])}
      </UnstyledButton>
      {isOpen && children}
    </div>
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
