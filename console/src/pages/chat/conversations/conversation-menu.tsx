import { ActionIcon, Menu } from "@mantine/core";
import { notifyFailure } from "../../../components/notify.tsx";
import { t } from "../../../i18n/translate.ts";
import {
  IconCheck,
  IconDots,
  IconFolder,
  IconPencil,
  IconPin,
  IconPinnedOff,
  IconPlus,
  IconTrash,
  IconX,
} from "../../../icons.tsx";
import type { ConversationTitle } from "../stored-conversations.ts";
import { arrange } from "./conversation-changes.ts";

export interface ConversationMenuProps {
  entry: ConversationTitle;
  folders: readonly string[];
  /** Opens a field for a name of the conversation, or of a new folder. */
  onEdit: (what: "title" | "folder") => void;
  onMove: (folder: string | null) => void;
  onDelete: (id: string) => void;
}

/** What can be done to a conversation of the list; open at first, because a click loads it. */
export function ConversationMenu({ entry, folders, onEdit, onMove, onDelete }: ConversationMenuProps) {
  const { id, title, folder, isPinned } = entry;
  return (
    <Menu position="bottom-end" withinPortal defaultOpened>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          data-tooltip={t("Options")}
          aria-label={t("Options of {{title}}", { title })}
        >
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={isPinned ? <IconPinnedOff size={15} /> : <IconPin size={15} />}
          onClick={() => void arrange(id, { folder, isPinned: !isPinned }).catch(notifyFailure)}
        >
          {isPinned ? t("Unpin") : t("Pin")}
        </Menu.Item>
        <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => onEdit("title")}>
          {t("Rename")}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t("Folder")}</Menu.Label>
        {folders.map((name) => (
          <Menu.Item
            key={name}
            leftSection={name === folder ? <IconCheck size={15} /> : <IconFolder size={15} />}
            onClick={() => onMove(name)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Item leftSection={<IconPlus size={15} />} onClick={() => onEdit("folder")}>
          {t("New folder")}
        </Menu.Item>
        {folder !== null && (
          <Menu.Item leftSection={<IconX size={15} />} onClick={() => onMove(null)}>
            {t("Take out of the folder")}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={() => onDelete(id)}>
          {t("Delete")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
