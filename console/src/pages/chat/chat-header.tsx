import { ActionIcon, Group, Text } from "@mantine/core";
import { AsCode } from "../../components/as-code.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { memo } from "../../i18n/memo.ts";
import { t } from "../../i18n/translate.ts";
import { type Icon, IconAdjustments, IconLayoutSidebar, IconPlus } from "../../icons.tsx";
import type { Conversation } from "./conversation.ts";
import { ShareButton } from "./conversations/share-button.tsx";
import { PromptsDrawer } from "./prompts-drawer.tsx";
import { titleOf } from "./stored-conversations.ts";
import { useChatSync } from "./use-chat.ts";

interface ChatHeaderProps {
  conversation: Conversation;
  draft: string;
  showsList: boolean;
  onList: () => void;
  onParameters: () => void;
  /** How many parameters differ from what the model does by itself. */
  changedParameters: number;
  onNew: () => void;
  onPrompt: (prompt: string) => void;
}

/** Title of the conversation, and what can be done with it. */
export const ChatHeader = memo(function ChatHeader(props: ChatHeaderProps) {
  const { conversation, draft, showsList, onList, onParameters, changedParameters, onNew, onPrompt } = props;
  const { mode } = useChatSync();
  const isEmpty = conversation.turns.length === 0;
  const parameters =
    changedParameters > 0 ? t("Parameters ({{number}} changed)", { number: changedParameters }) : t("Parameters");
  return (
    <Group gap={6} wrap="nowrap" className="chat-header">
      <HeaderButton label={t("Conversations")} Glyph={IconLayoutSidebar} isOn={showsList} onClick={onList} />
      {!showsList && (
        <HeaderButton label={t("New conversation")} Glyph={IconPlus} isDisabled={isEmpty} onClick={onNew} />
      )}
      <Text fw={600} truncate flex={1} miw={0} title={isEmpty ? undefined : titleOf(conversation)}>
        {isEmpty ? "" : titleOf(conversation)}
      </Text>
      {mode === "account" && !isEmpty && <ShareButton id={conversation.id} />}
      <AsCode isCompact samples={async () => (await import("./chat-samples.ts")).chatSamples(conversation, draft)} />
      <PromptsDrawer conversation={conversation} onUse={onPrompt} />
      <HeaderButton label={parameters} Glyph={IconAdjustments} isOn={changedParameters > 0} onClick={onParameters} />
    </Group>
  );
});

interface HeaderButtonProps {
  label: string;
  Glyph: Icon;
  isOn?: boolean;
  isDisabled?: boolean;
  onClick: () => void;
}

function HeaderButton({ label, Glyph, isOn = false, isDisabled = false, onClick }: HeaderButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={isOn ? "light" : "default"}
        size={36}
        aria-label={label}
        disabled={isDisabled}
        onClick={onClick}
      >
        <Glyph size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
