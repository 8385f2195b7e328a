import { lazy, Suspense, useEffect } from "react";
import { SideDrawer } from "../../../components/side-drawer.tsx";
import { t } from "../../../i18n/translate.ts";
import { chatSync } from "../chat-sync.ts";
import type { ConversationListProps } from "./conversation-list.tsx";

/** Not part of the first load. */
const ConversationList = lazy(async () => ({ default: (await import("./conversation-list.tsx")).ConversationList }));

interface ConversationColumnProps extends ConversationListProps {
  /** Whether there is room for a column; otherwise a drawer that opens. */
  isColumn: boolean;
  isOpen: boolean;
  onClose: () => void;
}

/** The conversations at the left side of the chat. */
export function ConversationColumn({ isColumn, isOpen, onClose, ...list }: ConversationColumnProps) {
  useEffect(() => {
    if (isOpen) void chatSync.sync();
  }, [isOpen]);
  if (isColumn) {
    return isOpen ? (
      <aside className="conversation-column" aria-label={t("Conversations")}>
        <Suspense>
          <ConversationList {...list} />
        </Suspense>
      </aside>
    ) : null;
  }
  const closing = {
    ...list,
    onOpen: (id: string) => {
      onClose();
      list.onOpen(id);
    },
    onNew: () => {
      onClose();
      list.onNew();
    },
  };
  if (!isOpen) return null;
  return (
    <Suspense>
      <SideDrawer opened onClose={onClose} position="left" title={t("Conversations")} size="xs">
        <ConversationList {...closing} />
      </SideDrawer>
    </Suspense>
  );
}
