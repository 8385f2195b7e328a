import { ActionIcon, FileButton, Group, Loader, Paper, Text, Textarea } from "@mantine/core";
import { lazy, Suspense, useCallback, useRef, useState } from "react";
import type { ModelEntry } from "../../../api/models.ts";
import { Tooltip } from "../../../components/tooltip.tsx";
import { useFileDrop } from "../../../components/use-file-drop.ts";
import { t } from "../../../i18n/translate.ts";
import { IconArrowUp, IconMicrophone, IconPaperclip, IconPlayerStopFilled } from "../../../icons.tsx";
import type { Parameters } from "../conversation.ts";
import type { ChatActions } from "../use-chat.ts";
import type { AttachOptions } from "./attach-file.ts";
import { ComposerPanel } from "./composer-panel.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { suggestionAt, withoutSuggestion } from "./suggestion.ts";
import type { SuggestionKeys } from "./suggestion-list.tsx";
import { ToolChips } from "./tool-chips.tsx";
import { useAttachments } from "./use-attachments.ts";
import { useDictation } from "./use-dictation.ts";

/** Not part of the first load. */
const AttachmentList = lazy(async () => ({ default: (await import("./attachment-list.tsx")).AttachmentList }));
const SuggestionList = lazy(async () => ({ default: (await import("./suggestion-list.tsx")).SuggestionList }));

interface ComposerProps extends AttachOptions {
  draft: string;
  onDraft: (change: string | ((draft: string) => string)) => void;
  models: ModelEntry[];
  value: string[];
  onModels: (models: string[]) => void;
  parameters: Parameters;
  onParameters: (parameters: Parameters) => void;
  /** Opens a stored prompt. */
  onPrompt: (prompt: string) => void;
  canCallTools: boolean;
  /** IDs of the chosen models that do not see images. */
  blind: readonly string[];
  isRunning: boolean;
  /** Why nothing can be sent, such as a parameter that is not valid JSON. */
  problem: string | undefined;
  onSend: ChatActions["ask"];
  onStop: () => void;
}

export function Composer(props: ComposerProps) {
  const { draft, onDraft, parameters, onParameters, isRunning, blind, onSend, onStop } = props;
  const append = (text: string) => onDraft((before) => [before.trimEnd(), text].filter(Boolean).join("\n\n"));
  const { attach, clear, ...attachments } = useAttachments(props, append);
  const { images, files, readings } = attachments;
  const drop = useFileDrop((dropped) => void attach(dropped));
  const dictation = useDictation(props.transcriptionModel, append);
  const field = useRef<HTMLTextAreaElement>(null);
  const suggestions = useSuggestions(props, field);
  const problem =
    props.problem ??
    (images.length > 0 && blind.length > 0
      ? t("{{model}} does not see images. Choose another model, or remove the images.", { model: blind.join(", ") })
      : undefined);
  const isEmpty = draft.trim() === "" && images.length + files.length === 0;
  const isReady = !isEmpty && !isRunning && readings.length === 0 && problem === undefined;
  const send = () => {
    if (!isReady) return;
    onSend({ text: draft, images, ...(files.length > 0 && { files }) });
    onDraft("");
    clear();
  };
  return (
    <Paper withBorder radius="lg" p="xs" shadow="xs" {...drop} className={`composer ${drop.className}`}>
      {suggestions.panel}
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" px={6} pb={4} role="status">
          {problem}
        </Text>
      )}
      {images.length + files.length + readings.length > 0 && (
        <Suspense>
          <AttachmentList {...attachments} />
        </Suspense>
      )}
      <Textarea
        ref={field}
        variant="unstyled"
        aria-label={t("Message")}
        placeholder={t("Message, # for a store, / for a prompt")}
        dir="auto"
        autosize
        autoFocus
        minRows={1}
        maxRows={10}
        px={6}
        size="md"
        {...suggestions.properties}
        value={draft}
        onChange={(event) => {
          onDraft(event.currentTarget.value);
          suggestions.onCursor(event.currentTarget);
        }}
        onSelect={(event) => suggestions.onCursor(event.currentTarget)}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void attach(event.clipboardData.files);
        }}
        onKeyDown={(event) => {
          if (suggestions.onKey(event)) return event.preventDefault();
          // An input method confirms its text with Enter, too.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <Group gap={6} justify="space-between" wrap="nowrap" className="composer-bar">
        <Group gap={6} wrap="nowrap" miw={0}>
          <AttachButton onFiles={(list) => void attach(list)} />
          <ToolChips parameters={parameters} onChange={onParameters} canCallTools={props.canCallTools} />
        </Group>
        <Group gap={4} wrap="nowrap" justify="flex-end" className="composer-end">
          <ModelPicker models={props.models} value={props.value} onChange={props.onModels} />
          {dictation.isAvailable && <DictationButton {...dictation} />}
          {isRunning ? (
            <Tooltip label={t("Stop")}>
              <ActionIcon size="lg" radius="xl" aria-label={t("Stop")} onClick={onStop}>
                <IconPlayerStopFilled size={16} />
              </ActionIcon>
            </Tooltip>
          ) : (
            <Tooltip label={t("Send (Enter)")}>
              <ActionIcon size="lg" radius="xl" aria-label={t("Send")} disabled={!isReady} onClick={send}>
                <IconArrowUp size={18} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
    </Paper>
  );
}

/** Stores or prompts that the word at the cursor asks for. */
function useSuggestions(
  { draft, onDraft, parameters, onParameters, onPrompt }: ComposerProps,
  field: React.RefObject<HTMLTextAreaElement | null>,
) {
  const [cursor, setCursor] = useState(0);
  const [dismissed, setDismissed] = useState<string>();
  const [active, setActive] = useState<{ list: string; option: string | undefined }>();
  const keys = useRef<SuggestionKeys>(null);
  const suggestion = dismissed === draft ? undefined : suggestionAt(draft, Math.min(cursor, draft.length));
  const onActive = useCallback((ids: typeof active) => setActive(ids), []);
  const close = () => setDismissed(draft);
  const choose = (id: string) => {
    if (suggestion === undefined) return;
    onDraft(withoutSuggestion(draft, suggestion));
    if (suggestion.kind === "prompt") onPrompt(id);
    else onParameters({ ...parameters, vectorStores: [...new Set([...(parameters.vectorStores ?? []), id])] });
    field.current?.focus();
  };
  return {
    panel: suggestion && (
      <ComposerPanel
        label={suggestion.kind === "store" ? t("Vector stores") : t("Prompts")}
        align="fill"
        onClose={close}
      >
        <Suspense>
          <SuggestionList suggestion={suggestion} keys={keys} onChoose={choose} onActive={onActive} />
        </Suspense>
      </ComposerPanel>
    ),
    properties: active && {
      "aria-autocomplete": "list" as const,
      "aria-controls": active.list,
      "aria-activedescendant": active.option,
    },
    onCursor: ({ selectionStart }: HTMLTextAreaElement) => setCursor(selectionStart),
    onKey(event: React.KeyboardEvent) {
      if (suggestion === undefined) return false;
      if (event.key !== "Escape") return keys.current?.onKey(event) ?? false;
      event.stopPropagation();
      close();
      return true;
    },
  };
}

function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const resetChoice = useRef<() => void>(null);
  return (
    <FileButton
      multiple
      resetRef={resetChoice}
      onChange={(list) => {
        onFiles(list);
        // A browser reports no change when the same file is chosen again.
        resetChoice.current?.();
      }}
    >
      {(button) => (
        <Tooltip label={t("Attach files")}>
          <ActionIcon {...button} variant="subtle" color="gray" aria-label={t("Attach files")}>
            <IconPaperclip size={17} />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  );
}

function DictationButton({ isRecording, isWriting, toggle }: ReturnType<typeof useDictation>) {
  const label = isRecording ? t("Stop dictating") : t("Dictate");
  return (
    <Tooltip label={label}>
      <ActionIcon
        size="lg"
        radius="xl"
        variant={isRecording ? "light" : "subtle"}
        color={isRecording ? "red" : "gray"}
        aria-label={label}
        aria-pressed={isRecording}
        disabled={isWriting}
        onClick={toggle}
      >
        {isWriting ? <Loader size={16} /> : <IconMicrophone size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}
