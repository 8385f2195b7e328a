import { ActionIcon, CloseButton, FileButton, Group, Image, Loader, Paper, Text, Textarea } from "@mantine/core";
import { useRef } from "react";
import { Tooltip } from "../../components/tooltip.tsx";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { t } from "../../i18n/translate.ts";
import { IconArrowUp, IconFile, IconPaperclip, IconPlayerStopFilled } from "../../icons.tsx";
import type { AttachOptions } from "./attach-file.ts";
import { useAttachments } from "./use-attachments.ts";
import type { ChatActions } from "./use-chat.ts";

interface ComposerProps extends AttachOptions {
  draft: string;
  onDraft: (change: string | ((draft: string) => string)) => void;
  isRunning: boolean;
  /** Why nothing can be sent, such as a parameter that is not valid JSON. */
  problem: string | undefined;
  onSend: ChatActions["ask"];
  onStop: () => void;
}

export function Composer(props: ComposerProps) {
  const { draft, onDraft, isRunning, takesImages, problem, onSend, onStop } = props;
  const { attach, clear, ...attachments } = useAttachments(props, (transcript) =>
    onDraft((text) => [text.trimEnd(), transcript].filter(Boolean).join("\n\n")),
  );
  const { images, files, readings } = attachments;
  const drop = useFileDrop((dropped) => void attach(dropped));
  const resetChoice = useRef<() => void>(null);
  const shownImages = takesImages ? images : [];
  const isEmpty = draft.trim() === "" && shownImages.length + files.length === 0;
  const isReady = !isEmpty && !isRunning && readings.length === 0 && problem === undefined;
  const send = () => {
    if (!isReady) return;
    onSend({ text: draft, images: shownImages, ...(files.length > 0 && { files }) });
    onDraft("");
    clear();
  };
  return (
    <Paper withBorder radius="lg" p="xs" shadow="xs" w="100%" maw={860} mx="auto" {...drop}>
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" px={6} pb={4} role="status">
          {problem}
        </Text>
      )}
      {(shownImages.length > 0 || files.length > 0 || readings.length > 0) && (
        <Group gap="xs" mb="xs">
          {shownImages.map((url) => (
            <div key={url} style={{ position: "relative" }}>
              <Image src={url} alt={t("Attached")} h={56} w="auto" radius="sm" />
              <CloseButton
                size="xs"
                aria-label={t("Remove image")}
                style={{ position: "absolute", top: 0, right: 0 }}
                onClick={() => attachments.removeImage(url)}
              />
            </div>
          ))}
          {files.map(({ name }) => (
            <span key={name} className="file-chip">
              <IconFile size={14} />
              {name}
              <CloseButton
                size="xs"
                aria-label={t("Remove {{name}}", { name })}
                onClick={() => attachments.removeFile(name)}
              />
            </span>
          ))}
          {readings.map((reading) => (
            <span key={reading.name} className="file-chip" role="status">
              <Loader size={14} />
              {t("Reading {{name}}…", { name: reading.name })}
              <CloseButton
                size="xs"
                aria-label={t("Cancel {{name}}", { name: reading.name })}
                onClick={() => attachments.cancel(reading)}
              />
            </span>
          ))}
        </Group>
      )}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <FileButton
          multiple
          resetRef={resetChoice}
          onChange={(list) => {
            void attach(list);
            // A browser reports no change when the same file is chosen again.
            resetChoice.current?.();
          }}
        >
          {(button) => (
            <Tooltip label={t("Attach files")}>
              <ActionIcon {...button} variant="subtle" color="gray" size="lg" aria-label={t("Attach files")}>
                <IconPaperclip size={18} />
              </ActionIcon>
            </Tooltip>
          )}
        </FileButton>
        <Textarea
          flex={1}
          variant="unstyled"
          aria-label={t("Message")}
          placeholder={t("Message")}
          dir="auto"
          autosize
          autoFocus
          minRows={1}
          maxRows={10}
          px={6}
          size="md"
          value={draft}
          onChange={(event) => onDraft(event.currentTarget.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            void attach(event.clipboardData.files);
          }}
          onKeyDown={(event) => {
            // An input method confirms its text with Enter, too.
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
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
    </Paper>
  );
}
