import { ActionIcon, CloseButton, FileButton, Group, Image, Paper, Text, Textarea, Tooltip } from "@mantine/core";
import { type DragEvent, useState } from "react";
import { IconArrowUp, IconPhoto, IconPlayerStopFilled } from "../../icons.tsx";

interface ComposerProps {
  draft: string;
  onDraft: (text: string) => void;
  isRunning: boolean;
  takesImages: boolean;
  /** Why nothing can be sent, such as a parameter that is not valid JSON. */
  problem: string | undefined;
  onSend: (text: string, images: string[]) => void;
  onStop: () => void;
}

export function Composer({ draft, onDraft, isRunning, takesImages, problem, onSend, onStop }: ComposerProps) {
  const [images, setImages] = useState<string[]>([]);
  const isReady = draft.trim() !== "" && !isRunning && problem === undefined;
  const attach = async (files: Iterable<File>) => {
    const pictures = [...files].filter(({ type }) => type.startsWith("image/"));
    const urls = await Promise.all(pictures.map(toDataUrl));
    setImages((known) => [...new Set([...known, ...urls])]);
  };
  const send = () => {
    if (!isReady) return;
    onSend(draft, takesImages ? images : []);
    onDraft("");
    setImages([]);
  };
  return (
    <Paper
      withBorder
      radius="lg"
      p="xs"
      shadow="xs"
      onDragOver={(event: DragEvent) => takesImages && event.preventDefault()}
      onDrop={(event: DragEvent) => {
        if (!takesImages || event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void attach(event.dataTransfer.files);
      }}
    >
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" px={6} pb={4} role="status">
          {problem}
        </Text>
      )}
      {takesImages && images.length > 0 && (
        <Group gap="xs" mb="xs">
          {images.map((url) => (
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
        </Group>
      )}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        {takesImages && (
          <FileButton multiple accept="image/png,image/jpeg,image/webp" onChange={(files) => void attach(files)}>
            {(props) => (
              <Tooltip label="Attach images">
                <ActionIcon {...props} variant="subtle" color="gray" size="lg" aria-label="Attach images">
                  <IconPhoto size={18} />
                </ActionIcon>
              </Tooltip>
            )}
          </FileButton>
        )}
        <Textarea
          flex={1}
          variant="unstyled"
          aria-label="Message"
          placeholder="Message"
          autosize
          autoFocus
          minRows={1}
          maxRows={10}
          px={6}
          size="md"
          value={draft}
          onChange={(event) => onDraft(event.currentTarget.value)}
          onPaste={(event) => {
            if (!takesImages || event.clipboardData.files.length === 0) return;
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

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("the file could not be read"));
    reader.readAsDataURL(file);
  });
}
