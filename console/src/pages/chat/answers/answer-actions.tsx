import { ActionIcon, Button, Group, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import { CopyButton } from "../../../components/copy-button.tsx";
import { Tooltip } from "../../../components/tooltip.tsx";
import { t } from "../../../i18n/translate.ts";
import { type Icon, IconPencil, IconPercentage, IconPlayerTrackNext, IconRefresh } from "../../../icons.tsx";
import { RatingButtons } from "../../requests/rating-buttons.tsx";
import type { Answer } from "../conversation.ts";
import { ReadAloudButton } from "./read-aloud-button.tsx";

interface AnswerActionsProps {
  answer: Answer;
  /** Whether any answer of the conversation is being generated. */
  isBusy: boolean;
  showsTokens: boolean;
  onTokens: () => void;
  /** Left out: the answer is only read. */
  onRegenerate?: (() => void) | undefined;
  /** Left out: something follows the answer. */
  onContinue?: (() => void) | undefined;
  onEdit?: (() => void) | undefined;
}

/** What can be done with an answer. */
export function AnswerActions(props: AnswerActionsProps) {
  const { answer, isBusy, showsTokens, onTokens, onRegenerate, onContinue, onEdit } = props;
  const { text, tokens, state, requestId } = answer;
  if (state === "running") return null;
  const tokensLabel = showsTokens ? t("Hide log probabilities") : t("Show log probabilities");
  return (
    <Group gap={0}>
      {text !== "" && <CopyButton text={text} label={t("Copy answer")} />}
      {text !== "" && <ReadAloudButton text={text} />}
      {text !== "" && onEdit && (
        <Action label={t("Edit answer")} Glyph={IconPencil} isDisabled={isBusy} onClick={onEdit} />
      )}
      {onRegenerate && (
        <Action label={t("Regenerate")} Glyph={IconRefresh} isDisabled={isBusy} onClick={onRegenerate} />
      )}
      {text !== "" && onContinue && (
        <Action label={t("Continue the answer")} Glyph={IconPlayerTrackNext} isDisabled={isBusy} onClick={onContinue} />
      )}
      {tokens !== undefined && (
        <Tooltip label={tokensLabel}>
          <ActionIcon
            variant={showsTokens ? "light" : "subtle"}
            color={showsTokens ? undefined : "gray"}
            aria-label={tokensLabel}
            aria-pressed={showsTokens}
            onClick={onTokens}
          >
            <IconPercentage size={15} />
          </ActionIcon>
        </Tooltip>
      )}
      {requestId !== undefined && state === "done" && <RatingButtons request={requestId} />}
    </Group>
  );
}

interface ActionProps {
  label: string;
  Glyph: Icon;
  isDisabled: boolean;
  onClick: () => void;
}

function Action({ label, Glyph, isDisabled, onClick }: ActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isDisabled} onClick={onClick}>
        <Glyph size={15} />
      </ActionIcon>
    </Tooltip>
  );
}

interface AnswerFormProps {
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}

/** Another text for an answer, which the model then takes for its own. */
export function AnswerForm({ text, onSave, onCancel }: AnswerFormProps) {
  const [edited, setEdited] = useState(text);
  return (
    <Stack gap="xs">
      <Textarea
        aria-label={t("Edited answer")}
        dir="auto"
        autosize
        autoFocus
        maxRows={24}
        value={edited}
        onChange={(event) => setEdited(event.currentTarget.value)}
      />
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onCancel}>
          {t("Cancel")}
        </Button>
        <Button size="xs" disabled={edited.trim() === "" || edited === text} onClick={() => onSave(edited)}>
          {t("Save as a branch")}
        </Button>
      </Group>
    </Stack>
  );
}
