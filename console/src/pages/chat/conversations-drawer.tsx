import { ActionIcon, Drawer, Group, NavLink, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { formatAgo } from "../../components/format.ts";
import { notifyUndo } from "../../components/notify.tsx";
import { t } from "../../i18n/translate.ts";
import { IconHistory, IconTrash } from "../../icons.tsx";
import { listConversations, loadConversation, storeConversation } from "./stored-conversations.ts";

interface ConversationsDrawerProps {
  /** ID of the conversation that is open. */
  current: string;
  onOpen(id: string): void;
  onDelete(id: string): void;
}

/** Button that opens the list of conversations in this browser. */
export function ConversationsDrawer(props: ConversationsDrawerProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const onOpen = (id: string) => {
    close();
    props.onOpen(id);
  };
  return (
    <>
      <Tooltip label={t("Conversations")}>
        <ActionIcon variant="default" size={36} aria-label={t("Conversations")} onClick={open}>
          <IconHistory size={16} />
        </ActionIcon>
      </Tooltip>
      <Drawer opened={isOpen} onClose={close} position="right" title={t("Conversations in this browser")} size="sm">
        <ConversationList {...props} onOpen={onOpen} />
      </Drawer>
    </>
  );
}

function ConversationList({ current, onOpen, onDelete }: ConversationsDrawerProps) {
  const [conversations, setConversations] = useState(listConversations);
  if (conversations.length === 0) return <Text c="dimmed">{t("Your conversations appear here.")}</Text>;
  return (
    <Stack gap={2}>
      {conversations.map((conversation) => (
        <Group key={conversation.id} gap={4} wrap="nowrap">
          <NavLink
            component="button"
            aria-current={conversation.id === current}
            label={conversation.title}
            fw={conversation.id === current ? 600 : undefined}
            description={formatAgo(conversation.changedAt / 1000)}
            onClick={() => onOpen(conversation.id)}
            styles={{ body: { minWidth: 0 } }}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={t("Delete {{title}}", { title: conversation.title })}
            onClick={() => {
              const stored = loadConversation(conversation.id);
              onDelete(conversation.id);
              setConversations((all) => all.filter(({ id }) => id !== conversation.id));
              notifyUndo(t("Conversation deleted"), () => {
                if (stored !== undefined) storeConversation(stored);
                setConversations(listConversations());
              });
            }}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  );
}
