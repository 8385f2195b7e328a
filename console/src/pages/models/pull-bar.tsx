import { Progress, Text } from "@mantine/core";
import { formatBytes } from "../../components/format.ts";
import type { PullProgress } from "./read-pull.ts";

/** Progress of a download. */
export function PullBar({ model, progress }: { model: string; progress: PullProgress }) {
  const { file, receivedBytes, totalBytes } = progress;
  const share = totalBytes === undefined ? undefined : (100 * receivedBytes) / totalBytes;
  return (
    <div style={{ width: 220 }}>
      <Progress value={share ?? 100} aria-label={`Download of ${model}`} animated />
      <Text size="xs" c="dimmed" className="tabular wrap-anywhere" role="status">
        {formatBytes(receivedBytes)}
        {totalBytes !== undefined && ` of ${formatBytes(totalBytes)}`}
        {file !== "" && ` · ${file}`}
      </Text>
    </div>
  );
}
