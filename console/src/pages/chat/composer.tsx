import { ActionIcon, CloseButton, FileButton, Group, Image, Paper, Textarea, Tooltip } from "@mantine/core";
import { IconArrowUp, IconPhoto, IconPlayerStopFilled } from "@tabler/icons-react";
import { useState } from "react";

interface ComposerProps {
  draft: string;
  onDraft: (text: string) => void;
  isRunning: boolean;
  takesImages: boolean;
  onSend: (text: string, images: string[]) => void;
  onStop: () => void;
}

export function Composer({ draft, onDraft, isRunning, takesImages, onSend, onStop }: ComposerProps) {
  const [images, setImages] = useState<string[]>([]);
  const isReady = draft.trim() !== "" && !isRunning;
  const send = () => {
    if (!isReady) return;
    onSend(draft, takesImages ? images : []);
    onDraft("");
    setImages([]);
  };
  return (
    <Paper withBorder radius="lg" p="xs" shadow="xs">
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
          <FileButton
            multiple
            accept="image/png,image/jpeg,image/webp"
            onChange={async (files) => {
              setImages([...images, ...(await Promise.all(files.map(toDataUrl)))]);
            }}
          >
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
