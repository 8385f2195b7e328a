import { Progress, Text } from "@mantine/core";
import { formatBytes } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import type { PullProgress } from "./read-pull.ts";

/** The part of a download that has arrived. */
export function formatReceived(received: number, total: number | null): string {
  const size = formatBytes(received);
  return total === null ? size : t("{{received}} of {{total}}", { received: size, total: formatBytes(total) });
}

/** Progress of a download. */
export function PullBar({ model, progress }: { model: string; progress: PullProgress }) {
  const { file, receivedBytes, totalBytes } = progress;
  const share = totalBytes === undefined ? undefined : (100 * receivedBytes) / totalBytes;
  return (
    <div style={{ width: 220 }}>
      <Progress value={share ?? 100} aria-label={t("Download of {{model}}", { model })} animated />
      <Text size="xs" c="dimmed" className="tabular wrap-anywhere" role="status">
        {formatReceived(receivedBytes, totalBytes ?? null)}
        {file !== "" && ` · ${file}`}
      </Text>
    </div>
  );
}
