import { Badge, Checkbox, Group, Progress, Table, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo, formatCost, formatFixed, formatMilliseconds } from "../../components/format.ts";
import { TableCard } from "../../components/table-card.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { cancelRun, deleteRun, type EvalRun, gradedRows, isRunning, refreshEvals } from "./evals-api.ts";

interface RunTableProps {
  runs: readonly EvalRun[];
  shown: readonly EvalRun[];
  show: (ids: readonly string[]) => void;
}

/** Runs with scores, cost and time; those that are checked are compared below. */
export function RunTable({ runs, shown, show }: RunTableProps) {
  const graders = runs[0]?.per_testing_criteria_results.map(({ testing_criteria: name }) => name) ?? [];
  const ids = shown.map(({ id }) => id);
  return (
    <TableCard
      title={t("Runs")}
      columns={[
        { label: t("Compare"), isHidden: true },
        t("Run"),
        t("Passed"),
        ...graders.map((label) => ({ label, ta: "right" as const })),
        { label: t("Cost"), ta: "right" },
        { label: t("Time each"), ta: "right" },
      ]}
      hasActions
      minWidth={760}
      maxHeight={420}
    >
      {runs.map((run) => (
        <Table.Tr key={run.id}>
          <Table.Td>
            <Checkbox
              aria-label={t("Compare {{run}}, {{time}}", { run: run.name, time: formatAgo(run.created_at) })}
              checked={ids.includes(run.id)}
              onChange={(event) =>
                show(event.currentTarget.checked ? [...ids, run.id] : ids.filter((id) => id !== run.id))
              }
            />
          </Table.Td>
          <Table.Td className="wrap-anywhere">
            <Text size="sm" fw={500}>
              {run.name}
            </Text>
            <Text size="xs" c="dimmed">
              {formatAgo(run.created_at)}
            </Text>
          </Table.Td>
          <Table.Td miw={150}>
            <Passed run={run} />
          </Table.Td>
          {run.per_testing_criteria_results.map(({ testing_criteria: name, mean_score: score }) => (
            <Table.Td key={name} ta="right" className="tabular">
              {score === null ? "–" : formatFixed(score, 2)}
            </Table.Td>
          ))}
          <Table.Td ta="right" className="tabular">
            {run.sampling.cost_usd === null ? "–" : formatCost(run.sampling.cost_usd)}
          </Table.Td>
          <Table.Td ta="right" className="tabular nowrap">
            {run.sampling.mean_duration_ms === null ? "–" : formatMilliseconds(run.sampling.mean_duration_ms)}
          </Table.Td>
          <Table.Td>
            <RunActions run={run} />
          </Table.Td>
        </Table.Tr>
      ))}
    </TableCard>
  );
}

/** Share of rows that passed, or how far the run is. */
function Passed({ run }: { run: EvalRun }) {
  const { status, result_counts: counts, error } = run;
  const { passed, failed, errored, total } = counts;
  if (status === "failed") {
    return (
      <Text size="xs" c="var(--mantine-color-error)" className="wrap-anywhere">
        {error?.message ?? t("Failed")}
      </Text>
    );
  }
  if (isRunning(run)) {
    return (
      <>
        <Text size="xs" c="dimmed" className="tabular">
          {status === "queued"
            ? t("Waits")
            : plural(total, "{{graded}} of {{count}} row", "{{graded}} of {{count}} rows", {
                graded: gradedRows(run),
              })}
        </Text>
        <Progress
          size="sm"
          aria-label={t("Progress of {{run}}", { run: run.name })}
          value={total === 0 ? 0 : (100 * gradedRows(run)) / total}
          animated
        />
      </>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" className="tabular nowrap">
        {t("{{passed}} of {{total}}", { passed, total })}
      </Text>
      {status === "canceled" && (
        <Badge size="sm" color="gray" variant="light" tt="none" c="var(--mantine-color-text)">
          {t("Canceled")}
        </Badge>
      )}
      {errored > 0 && (
        <Badge size="sm" color="orange" variant="light" tt="none" c="var(--mantine-color-text)">
          {plural(errored, "{{count}} error", "{{count}} errors")}
        </Badge>
      )}
      {failed > 0 && (
        <Text size="xs" c="dimmed" className="nowrap">
          {t("{{number}} failed", { number: failed })}
        </Text>
      )}
    </Group>
  );
}

function RunActions({ run }: { run: EvalRun }) {
  const client = useQueryClient();
  const change = (work: (run: EvalRun) => Promise<unknown>) => async () => {
    await work(run);
    await refreshEvals(client);
  };
  return isRunning(run) ? (
    <ConfirmButton
      aria-label={t("Stop {{run}}", { run: run.name })}
      question={t("Stop {{run}}?", { run: run.name })}
      consequence={t("The results so far stay.")}
      onConfirm={change(cancelRun)}
    >
      {t("Stop")}
    </ConfirmButton>
  ) : (
    <ConfirmButton
      aria-label={t("Delete {{run}}", { run: run.name })}
      question={t("Delete the run {{run}}?", { run: run.name })}
      consequence={t("Its results are deleted.")}
      onConfirm={change(deleteRun)}
    >
      {t("Delete")}
    </ConfirmButton>
  );
}
