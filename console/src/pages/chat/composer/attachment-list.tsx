import { CloseButton, Group, Image, Loader } from "@mantine/core";
import { t } from "../../../i18n/translate.ts";
import { IconFile } from "../../../icons.tsx";
import type { useAttachments } from "./use-attachments.ts";

type AttachmentListProps = Omit<ReturnType<typeof useAttachments>, "attach" | "clear">;

/** Images and files of the next question, and what is still being read. */
export function AttachmentList(props: AttachmentListProps) {
  const { images, files, readings } = props;
  return (
    <Group gap="xs" mb="xs">
      {images.map((url) => (
        <div key={url} style={{ position: "relative" }}>
          <Image src={url} alt={t("Attached")} h={56} w="auto" radius="sm" />
          <CloseButton
            size="xs"
            aria-label={t("Remove image")}
            style={{ position: "absolute", top: 0, right: 0 }}
            onClick={() => props.removeImage(url)}
          />
        </div>
      ))}
      {files.map(({ name }) => (
        <span key={name} className="file-chip">
          <IconFile size={14} />
          {name}
          <CloseButton size="xs" aria-label={t("Remove {{name}}", { name })} onClick={() => props.removeFile(name)} />
        </span>
      ))}
      {readings.map((reading) => (
        <span key={reading.name} className="file-chip" role="status">
          <Loader size={14} />
          {t("Reading {{name}}…", { name: reading.name })}
          <CloseButton
            size="xs"
            aria-label={t("Cancel {{name}}", { name: reading.name })}
            onClick={() => props.cancel(reading)}
          />
        </span>
      ))}
    </Group>
  );
}
