import {
  ActionIcon,
  CloseButton,
  FileButton,
  Group,
  Image,
  Loader,
  Paper,
  Text,
  Textarea,
  Tooltip,
} from "@mantine/core";
import { type DragEvent, useState } from "react";
import { notifyFailure } from "../../components/notify.tsx";
import { IconArrowUp, IconFile, IconPaperclip, IconPlayerStopFilled } from "../../icons.tsx";
import { type AttachOptions, attachFile } from "./attach-file.ts";
import type { AttachedFile } from "./conversation.ts";
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
  const [images, setImages] = useState<string[]>([]);
  const [files, setFiles] = useState<AttachedFile[]>([]);
  const [reading, setReading] = useState(0);
  const [isOver, setIsOver] = useState(false);
  const shownImages = takesImages ? images : [];
  const isEmpty = draft.trim() === "" && shownImages.length + files.length === 0;
  const isReady = !isEmpty && !isRunning && reading === 0 && problem === undefined;
  const attach = async (list: Iterable<File>) => {
    for (const file of list) {
      setReading((count) => count + 1);
      try {
        const attachment = await attachFile(file, props);
        if (attachment.kind === "image") setImages((all) => [...new Set([...all, attachment.url])]);
        else if (attachment.kind === "file") {
          setFiles((all) => [...all.filter(({ name }) => name !== file.name), attachment.file]);
        } else onDraft((text) => [text.trimEnd(), attachment.text].filter(Boolean).join("\n\n"));
      } catch (failure) {
        notifyFailure(failure);
      } finally {
        setReading((count) => count - 1);
      }
    }
  };
  const send = () => {
    if (!isReady) return;
    onSend({ text: draft, images: shownImages, ...(files.length > 0 && { files }) });
    onDraft("");
    setImages([]);
    setFiles([]);
  };
  return (
    <Paper
      withBorder
      radius="lg"
      p="xs"
      shadow="xs"
      w="100%"
      maw={860}
      mx="auto"
      className="drop-zone"
      mod={{ over: isOver }}
      onDragOver={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event: DragEvent) => {
        setIsOver(false);
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void attach(event.dataTransfer.files);
      }}
    >
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" px={6} pb={4} role="status">
          {problem}
        </Text>
      )}
      {(shownImages.length > 0 || files.length > 0 || reading > 0) && (
        <Group gap="xs" mb="xs">
          {shownImages.map((url) => (
            <div key={url} style={{ position: "relative" }}>
              <Image src={url} alt="Attached" h={56} w="auto" radius="sm" />
              <CloseButton
                size="xs"
                aria-label="Remove image"
                style={{ position: "absolute", top: 0, right: 0 }}
                onClick={() => setImages(images.filter((each) => each !== url))}
              />
            </div>
          ))}
          {files.map(({ name }) => (
            <span key={name} className="file-chip">
              <IconFile size={14} />
              {name}
              <CloseButton
                size="xs"
                aria-label={`Remove ${name}`}
                onClick={() => setFiles(files.filter((each) => each.name !== name))}
              />
            </span>
          ))}
          {reading > 0 && <Loader size="xs" aria-label="Reading files" />}
        </Group>
      )}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <FileButton multiple onChange={(list) => void attach(list)}>
          {(button) => (
            <Tooltip label="Attach files">
              <ActionIcon {...button} variant="subtle" color="gray" size="lg" aria-label="Attach files">
                <IconPaperclip size={18} />
              </ActionIcon>
            </Tooltip>
          )}
        </FileButton>
        <Textarea
          flex={1}
          variant="unstyled"
          aria-label="Message"
          placeholder="Message"
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
          <Tooltip label="Stop">
            <ActionIcon size="lg" radius="xl" aria-label="Stop" onClick={onStop}>
              <IconPlayerStopFilled size={16} />
            </ActionIcon>
          </Tooltip>
        ) : (
          <Tooltip label="Send (Enter)">
            <ActionIcon size="lg" radius="xl" aria-label="Send" disabled={!isReady} onClick={send}>
              <IconArrowUp size={18} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </Paper>
  );
}
