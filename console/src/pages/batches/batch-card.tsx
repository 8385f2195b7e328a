import { Badge, Button, Card, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatAgo, formatDateTime, formatSeconds, formatUntil } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useSave } from "../../components/use-save.ts";
import { Trans } from "../../i18n/trans.tsx";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { downloadContent } from "../files/files-api.ts";
import { type Batch, cancelBatch, hasEnded, readFailures } from "./batches-api.ts";

const STATES: Readonly<Record<Batch["status"], { label: Message; color: string }>> = {
  validating: { label: msg("Validating"), color: "blue" },
  in_progress: { label: msg("Running"), color: "pine" },
  finalizing: { label: msg("Writing results"), color: "pine" },
  cancelling: { label: msg("Cancelling"), color: "orange" },
  completed: { label: msg("Completed"), color: "teal" },
  failed: { label: msg("Failed"), color: "red" },
  expired: { label: msg("Expired"), color: "orange" },
  cancelled: { label: msg("Cancelled"), color: "gray" },
};

/** A batch with its progress, counts and results. */
export function BatchCard({ batch }: { batch: Batch }) {
  const { id, endpoint, errors, metadata, output_file_id: output, error_file_id: errorFile } = batch;
  const { total, completed, failed } = batch.request_counts;
  const [isOpen, setIsOpen] = useState(false);
  const download = useSave({
    save: ({ file, name }: { file: string; name: string }) => downloadContent(file, name),
  });
  const state = STATES[batch.status];
  const description = metadata?.description;
  const title = description ?? t("Batch of {{time}}", { time: formatDateTime(batch.created_at) });
  return (
    <Card component="article" aria-label={title} className="batch">
      <Group justify="space-between" align="flex-start" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={600} className="wrap-anywhere">
              {title}
            </Text>
            <Badge variant="dot" color={state.color} tt="none" fw={500}>
              {t(state.label)}
            </Badge>
          </Group>
          <Group gap={4} wrap="nowrap">
            <Text size="xs" c="dimmed" className="mono wrap-anywhere">
              {id}
            </Text>
            <CopyButton text={id} label={t("Copy ID")} />
          </Group>
        </div>
        <Group gap={6}>
          {output !== undefined && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() => download.mutate({ file: output, name: `${id}-results.jsonl` })}
            >
              {t("Results")}
            </Button>
          )}
          {errorFile !== undefined && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() => download.mutate({ file: errorFile, name: `${id}-errors.jsonl` })}
            >
              {t("Errors")}
            </Button>
          )}
          {!hasEnded(batch) && batch.status !== "cancelling" && (
            <ConfirmButton
              size="xs"
              question={t("Cancel {{name}}?", { name: title })}
              consequence={t("Running requests end, further ones do not start. The results so far are written.")}
              onConfirm={() => cancelBatch(id)}
              changes={[["batches"]]}
            >
              {t("Cancel")}
            </ConfirmButton>
          )}
        </Group>
      </Group>
      <div
        className="batch-bar"
        role="progressbar"
        aria-label={t("Progress of {{name}}", { name: title })}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={completed + failed}
      >
        {completed > 0 && <span className="batch-completed" style={{ width: `${share(completed, total)}%` }} />}
        {failed > 0 && <span className="batch-failed" style={{ width: `${share(failed, total)}%` }} />}
      </div>
      <Group gap="4px 20px" className="tabular" fz="sm">
        <span>
          <Trans text="<b>{{done}}</b> of {{total}}" tags={{ b: <b /> }} values={{ done: completed + failed, total }} />
        </span>
        <span className={failed > 0 ? "batch-failures" : undefined}>{t("{{number}} failed", { number: failed })}</span>
        <Text span inherit c="dimmed">
          {endpoint}
        </Text>
        <Text span inherit c="dimmed" title={formatDateTime(batch.created_at)}>
          {formatAgo(batch.created_at)}
        </Text>
        <Text span inherit c="dimmed">
          {durationOf(batch)}
        </Text>
        {(failed > 0 || errors !== undefined) && (errorFile !== undefined || errors !== undefined) && (
          <Button size="compact-xs" variant="subtle" onClick={() => setIsOpen(!isOpen)} aria-expanded={isOpen}>
            {isOpen ? t("Hide errors") : t("Show errors")}
          </Button>
        )}
      </Group>
      {isOpen && errors !== undefined && (
        <Failures
          rows={errors.data.map(({ line, message }) => ({
            id: line === null ? t("File") : t("Line {{line}}", { line: String(line) }),
            message,
          }))}
        />
      )}
      {isOpen && errors === undefined && errorFile !== undefined && <FailedLines file={errorFile} />}
    </Card>
  );
}

function FailedLines({ file }: { file: string }) {
  const query = useQuery({ queryKey: ["batch-errors", file], queryFn: () => readFailures(file) });
  if (query.error !== null) return <ErrorAlert error={query.error} />;
  return <Failures rows={query.data ?? []} />;
}

function Failures({ rows }: { rows: readonly { id: string; message: string }[] }) {
  return (
    <ResourceTable
      isBare
      isHeadless
      // IDs of an invalid input may repeat.
      rows={rows.map((row, index) => ({ ...row, key: String(index) }))}
      keyOf={({ key }) => key}
      empty={null}
      columns={[
        { label: t("Request"), className: "mono wrap-anywhere", cell: ({ id }) => id },
        { label: t("Message"), className: "wrap-anywhere", cell: ({ message }) => message },
      ]}
    />
  );
}

function share(count: number, total: number): number {
  return total === 0 ? 0 : (100 * count) / total;
}

/** How long a batch took, or the time that a running one will need at its speed so far. */
function durationOf(batch: Batch): string {
  const { in_progress_at: begin, completed_at, failed_at, expired_at, cancelled_at, request_counts: counts } = batch;
  const end = completed_at ?? failed_at ?? expired_at ?? cancelled_at;
  if (begin === undefined)
    return end === undefined ? t("expires {{time}}", { time: formatUntil(batch.expires_at) }) : "";
  if (end !== undefined) return t("took {{time}}", { time: formatSeconds(end - begin) });
  const done = counts.completed + counts.failed;
  const elapsed = Date.now() / 1000 - begin;
  if (done === 0) return t("running for {{time}}", { time: formatSeconds(Math.max(0, elapsed)) });
  const remaining = Math.max(1, (elapsed * (counts.total - done)) / done);
  return t("about {{time}} to go", { time: formatSeconds(remaining) });
}
