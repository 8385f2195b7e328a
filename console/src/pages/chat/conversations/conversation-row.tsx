import { ActionIcon, NavLink, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { notifyFailure } from "../../../components/notify.tsx";
import { memo } from "../../../i18n/memo.ts";
import { t } from "../../../i18n/translate.ts";
import { IconDots, IconShare } from "../../../icons.tsx";
import type { ConversationTitle } from "../stored-conversations.ts";
import { arrange, rename } from "./conversation-changes.ts";
import type { ConversationMenuProps } from "./conversation-menu.tsx";

/** Not part of the first load. */
const ConversationMenu = lazy(async () => ({ default: (await import("./conversation-menu.tsx")).ConversationMenu }));

interface ConversationRowProps {
  entry: ConversationTitle;
  isOpen: boolean;
  /** Why it stays in this browser. */
  problem: string | undefined;
  folders: readonly string[];
  onOpen: (id: string) => void;
  onDelete: (id: string) => void;
}

const MAX_TITLE = 200;
const MAX_FOLDER = 100;

/** A conversation in the list, with what can be done to it. */
export const ConversationRow = memo(function ConversationRow(props: ConversationRowProps) {
  const { entry, isOpen, problem, folders, onOpen, onDelete } = props;
  const { id, title, isPinned, shareId } = entry;
  const [edited, setEdited] = useState<"title" | "folder">();
  const move = (next: string | null) => void arrange(id, { folder: next, isPinned }).catch(notifyFailure);
  if (edited !== undefined) {
    return (
      <NameField
        label={edited === "title" ? t("Name of the conversation") : t("Name of the folder")}
        initial={edited === "title" ? title : ""}
        maxLength={edited === "title" ? MAX_TITLE : MAX_FOLDER}
        onClose={() => setEdited(undefined)}
        onSave={(name) => {
          if (edited === "title") void rename(id, name).catch(notifyFailure);
          else if (name.trim() !== "") move(name.trim());
        }}
      />
    );
  }
  return (
    <div className="conversation-row" data-open={isOpen || undefined}>
      <NavLink
        component="button"
        aria-current={isOpen}
        active={isOpen}
        label={title}
        description={problem === undefined ? undefined : t("Only in this browser")}
        rightSection={shareId === null ? undefined : <IconShare size={13} aria-label={t("Shared")} role="img" />}
        onClick={() => onOpen(id)}
        styles={{ body: { minWidth: 0 } }}
      />
      <RowMenu entry={entry} folders={folders} onEdit={setEdited} onMove={move} onDelete={onDelete} />
    </div>
  );
});

/** Its code is loaded by the first click on one. */
function RowMenu(props: ConversationMenuProps) {
  const [isUsed, setIsUsed] = useState(false);
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      data-tooltip={t("Options")}
      aria-haspopup="menu"
      aria-label={t("Options of {{title}}", { title: props.entry.title })}
      onClick={() => setIsUsed(true)}
    >
      <IconDots size={15} />
    </ActionIcon>
  );
  return isUsed ? (
    <Suspense fallback={button}>
      <ConversationMenu {...props} />
    </Suspense>
  ) : (
    button
  );
}

interface NameFieldProps {
  label: string;
  initial: string;
  maxLength: number;
  onSave: (name: string) => void;
  onClose: () => void;
}

/** Enter and leaving the field save, Escape does not. */
function NameField({ label, initial, maxLength, onSave, onClose }: NameFieldProps) {
  const [name, setName] = useState(initial);
  const save = () => {
    if (name !== initial) onSave(name);
    onClose();
  };
  return (
    <TextInput
      size="xs"
      autoFocus
      aria-label={label}
      placeholder={label}
      maxLength={maxLength}
      value={name}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={save}
      onKeyDown={({ key, nativeEvent }) => {
        if (key === "Enter" && !nativeEvent.isComposing) save();
        else if (key === "Escape") onClose();
      }}
    />
  );
}
