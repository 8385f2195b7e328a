import { ActionIcon, Button, Group, Image, Paper, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconChevronLeft, IconChevronRight, IconFile, IconPencil, IconRefresh } from "../../icons.tsx";
import type { Turn } from "./conversation.ts";
import type { ChatActions } from "./use-chat.ts";

interface QuestionViewProps {
  turn: Turn;
  branchIndex: number;
  branchCount: number;
  isRunning: boolean;
  actions: ChatActions;
}

/** A question, which can be edited or asked again; each time begins a branch. */
export function QuestionView({ turn, branchIndex, branchCount, isRunning, actions }: QuestionViewProps) {
  const [edited, setEdited] = useState<string>();
  return (
    <Stack align="flex-end" gap={2}>
      <Paper px="md" py="xs" radius="lg" className="user-message">
        {edited === undefined ? (
          <Question turn={turn} />
        ) : (
          <QuestionForm
            text={edited}
            onText={setEdited}
            onCancel={() => setEdited(undefined)}
            onSend={() => {
              setEdited(undefined);
              actions.retry(turn.id, edited);
            }}
          />
        )}
      </Paper>
      <Group gap={0} wrap="nowrap" className="turn-actions">
        {branchCount > 1 && (
          <Group gap={0} wrap="nowrap" role="group" aria-label={t("Branches")}>
            <Action
              label={t("Previous branch")}
              Icon={IconChevronLeft}
              disabled={isRunning || branchIndex === 0}
              onClick={() => actions.showBranch(turn.id, -1)}
            />
            <Text size="xs" c="dimmed" className="tabular">
              {branchIndex + 1}/{branchCount}
            </Text>
            <Action
              label={t("Next branch")}
              Icon={IconChevronRight}
              disabled={isRunning || branchIndex === branchCount - 1}
              onClick={() => actions.showBranch(turn.id, 1)}
            />
          </Group>
        )}
        <CopyButton text={turn.text} label={t("Copy message")} />
        <Action label={t("Edit message")} Icon={IconPencil} disabled={isRunning} onClick={() => setEdited(turn.text)} />
        <Action label={t("Retry")} Icon={IconRefresh} disabled={isRunning} onClick={() => actions.retry(turn.id)} />
      </Group>
    </Stack>
  );
}

interface ActionProps {
  label: string;
  Icon: typeof IconPencil;
  disabled: boolean;
  onClick: () => void;
}

function Action({ label, Icon, disabled, onClick }: ActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={disabled} onClick={onClick}>
        <Icon size={15} />
      </ActionIcon>
    </Tooltip>
  );
}

export function Question({ turn: { text, images, files = [] } }: { turn: Turn }) {
  return (
    <>
      {images.map((url) => (
        <Image key={url} src={url} alt={t("Attached")} mah={180} w="auto" radius="sm" mb={6} />
      ))}
      {files.length > 0 && (
        <Group gap={6} mb={6}>
          {files.map(({ name }) => (
            <span key={name} className="file-chip">
              <IconFile size={14} />
              {name}
            </span>
          ))}
        </Group>
      )}
      <Text size="md" dir="auto" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {text}
      </Text>
    </>
  );
}

interface QuestionFormProps {
  text: string;
  onText: (text: string) => void;
  onCancel: () => void;
  onSend: () => void;
}

function QuestionForm({ text, onText, onCancel, onSend }: QuestionFormProps) {
  return (
    <Stack gap="xs">
      <Textarea
        aria-label={t("Edited message")}
        dir="auto"
        autosize
        autoFocus
        maxRows={12}
        w={480}
        maw="100%"
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
      />
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onCancel}>
          {t("Cancel")}
        </Button>
        <Button size="xs" disabled={text.trim() === ""} onClick={onSend}>
          {t("Send")}
        </Button>
      </Group>
    </Stack>
  );
}
