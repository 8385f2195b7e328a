import { Badge, Checkbox, Group, Progress, Text } from "@mantine/core";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo, formatCost, formatFixed, formatMilliseconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { cancelRun, deleteRun, EVAL_QUERIES, type EvalRun, gradedRows, isRunning } from "./evals-api.ts";

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
    <ResourceTable
      title={t("Runs")}
      rows={runs}
      keyOf={({ id }) => id}
      minWidth={760}
      maxHeight={420}
      empty={null}
      columns={[
        {
          label: t("Compare"),
          isUnlabeled: true,
          cell: ({ id, name, created_at: time }) => (
            <Checkbox
              aria-label={t("Compare {{run}}, {{time}}", { run: name, time: formatAgo(time) })}
              checked={ids.includes(id)}
              onChange={(event) => show(event.currentTarget.checked ? [...ids, id] : ids.filter((each) => each !== id))}
            />
          ),
        },
        {
          label: t("Run"),
          className: "wrap-anywhere",
          sortBy: ({ created_at: time }) => time,
          cell: ({ name, created_at: time }) => (
            <>
              <Text size="sm" fw={500}>
                {name}
              </Text>
              <Text size="xs" c="dimmed">
                {formatAgo(time)}
              </Text>
            </>
          ),
        },
        { label: t("Passed"), minWidth: 150, cell: (run) => <Passed run={run} /> },
        ...graders.map((label) => ({
          label,
          isNumeric: true,
          sortBy: (run: EvalRun) => scoreOf(run, label) ?? 0,
          cell: (run: EvalRun) => {
            const score = scoreOf(run, label);
            return score === null ? "–" : formatFixed(score, 2);
          },
        })),
        {
          label: t("Cost"),
          isNumeric: true,
          sortBy: ({ sampling }) => sampling.cost_usd ?? 0,
          cell: ({ sampling: { cost_usd: cost } }) => (cost === null ? "–" : formatCost(cost)),
        },
        {
          label: t("Time each"),
          isNumeric: true,
          sortBy: ({ sampling }) => sampling.mean_duration_ms ?? 0,
          cell: ({ sampling: { mean_duration_ms: mean } }) => (mean === null ? "–" : formatMilliseconds(mean)),
        },
      ]}
      actions={(run) => <RunActions run={run} />}
    />
  );
}

function scoreOf({ per_testing_criteria_results: results }: EvalRun, grader: string): number | null {
  return results.find(({ testing_criteria: name }) => name === grader)?.mean_score ?? null;
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
  return isRunning(run) ? (
    <ConfirmButton
      aria-label={t("Stop {{run}}", { run: run.name })}
      question={t("Stop {{run}}?", { run: run.name })}
      consequence={t("The results so far stay.")}
      onConfirm={() => cancelRun(run)}
      changes={EVAL_QUERIES}
    >
      {t("Stop")}
    </ConfirmButton>
  ) : (
    <ConfirmButton
      aria-label={t("Delete {{run}}", { run: run.name })}
      question={t("Delete the run {{run}}?", { run: run.name })}
      consequence={t("Its results are deleted.")}
      onConfirm={() => deleteRun(run)}
      changes={EVAL_QUERIES}
    >
      {t("Delete")}
    </ConfirmButton>
  );
}
