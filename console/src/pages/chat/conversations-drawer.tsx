import { ActionIcon, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconHistory } from "../../icons.tsx";
import { chatSync } from "./chat-sync.ts";
import type { ConversationListProps } from "./conversation-list.tsx";
import { useChatSync } from "./use-chat.ts";

/** Not part of the first load. */
const ConversationList = lazy(async () => ({
  default: (await import("./conversation-list.tsx")).ConversationList,
}));

/** Button that opens the list of conversations. */
export function ConversationsDrawer(props: ConversationListProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const { mode } = useChatSync();
  const onOpen = (id: string) => {
    close();
    props.onOpen(id);
  };
  const show = () => {
    void chatSync.sync();
    open();
  };
  const title = mode === "account" ? t("Your conversations") : t("Conversations in this browser");
  return (
    <>
      <Tooltip label={t("Conversations")}>
        <ActionIcon variant="default" size={36} aria-label={t("Conversations")} onClick={show}>
          <IconHistory size={16} />
        </ActionIcon>
      </Tooltip>
      <Drawer opened={isOpen} onClose={close} position="right" title={title} size="sm">
        <Suspense>
          <ConversationList {...props} onOpen={onOpen} />
        </Suspense>
      </Drawer>
    </>
  );
}
