import { Badge, Card, Code, Group, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { formatCost, formatDateTime, formatFixed, formatMilliseconds } from "../../components/format.ts";
import { PageLoading } from "../../components/page-loading.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { msg, plural, t } from "../../i18n/translate.ts";
import { type ComparedRow, columnTitle, compareRows, matchesRow, type RowFilter } from "./compare-rows.ts";
import { type EvalItem, type EvalRun, gradedRows, itemsQuery, MAX_ROWS } from "./evals-api.ts";

const FILTERS = [
  { value: "all", label: msg("All rows") },
  { value: "failed", label: msg("Not passed") },
  { value: "different", label: msg("Different") },
];
// untranslated: a color
const COLORS = { pass: "teal", fail: "red", error: "orange" } as const;
const WORDS = { pass: msg("Pass"), fail: msg("Fail"), error: msg("Error") } as const;

/** What each run answered to each row; a row unfolds with the whole answers and what the graders said. */
export function SideBySide({ runs }: { runs: readonly EvalRun[] }) {
  const [filter, setFilter] = useState<RowFilter>("all");
  const [open, setOpen] = useState<number>();
  const queries = useQueries({ queries: runs.map((run) => itemsQuery(run, gradedRows(run))) });
  const items = queries.map(({ data = [] }) => data);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new with each draw, its entries are not
  const rows = useMemo(() => compareRows(items), items);
  const visible = rows.filter((row) => matchesRow(row, filter));
  if (runs.length === 0) return null;
  return (
    <Card padding={0}>
      {queries.some(({ isLoading }) => isLoading) && <PageLoading shape="rows" />}
      <ResourceTable
        isBare
        title={runs.length > 1 ? t("Side by side") : t("Rows")}
        tools={
          <SegmentedControl
            size="xs"
            aria-label={t("Rows")}
            data={FILTERS.slice(0, runs.length > 1 ? 3 : 2).map(({ value, label }) => ({ value, label: t(label) }))}
            value={filter}
            onChange={(next) => setFilter(next as RowFilter)}
          />
        }
        rows={visible}
        keyOf={({ position }) => String(position)}
        minWidth={220 + 240 * runs.length}
        className="comparison"
        empty={null}
        columns={[
          {
            label: t("Row"),
            cell: ({ position, title }) => (
              <button
                type="button"
                className="link-button row-title"
                aria-expanded={open === position}
                onClick={() => setOpen(open === position ? undefined : position)}
              >
                {title}
              </button>
            ),
          },
          ...runs.map((run, index) => ({
            label: columnTitle(run, runs, formatDateTime),
            cell: ({ results }: ComparedRow) => {
              const result = results[index];
              return result !== undefined && <Cell item={result} />;
            },
          })),
        ]}
        details={(row) => open === row.position && <RowDetails row={row} runs={runs} />}
      />
      {rows.length > 0 && visible.length === 0 && (
        <Text size="sm" c="dimmed" p="md" pt={0}>
          {t("No such rows.")}
        </Text>
      )}
      {rows.length >= MAX_ROWS && (
        <Text size="sm" c="dimmed" p="md" pt="xs">
          {t("The first {{number}} rows. The API has all of them.", { number: MAX_ROWS })}
        </Text>
      )}
    </Card>
  );
}

function Cell({ item }: { item: EvalItem }) {
  return (
    <>
      <ItemBadge item={item} />
      <div className="answer-start">{item.sample.error?.message ?? outputOf(item)}</div>
    </>
  );
}

function ItemBadge({ item: { status, results } }: { item: EvalItem }) {
  const scores = results.filter(({ type }) => type !== "string_check").map(({ score }) => formatFixed(score, 2));
  return (
    <Badge size="sm" variant="light" color={COLORS[status]} tt="none" c="var(--mantine-color-text)" className="tabular">
      {t(WORDS[status])} {scores.join(" · ")}
    </Badge>
  );
}

function RowDetails({ row, runs }: { row: ComparedRow; runs: readonly EvalRun[] }) {
  return (
    <Stack gap="sm" py="xs" className="row-details">
      <section aria-label={t("Row")}>
        <Code block mah={220} tabIndex={0}>
          {JSON.stringify(row.item, undefined, 2)}
        </Code>
      </section>
      <SimpleGrid cols={{ base: 1, sm: Math.min(3, runs.length) }} spacing="sm">
        {row.results.map((result, index) => {
          const run = runs[index] as EvalRun;
          return (
            result !== undefined && (
              <section key={run.id} aria-label={t("Answer of {{name}}", { name: run.name })}>
                <Result item={result} title={columnTitle(run, runs, formatDateTime)} />
              </section>
            )
          );
        })}
      </SimpleGrid>
    </Stack>
  );
}

function Result({ item, title }: { item: EvalItem; title: string }) {
  const { sample, results } = item;
  const { cost_usd: cost, duration_ms: duration } = sample;
  return (
    <Card padding="sm">
      <Group justify="space-between" gap="xs" mb="xs">
        <Text size="sm" fw={500} className="wrap-anywhere">
          {title}
        </Text>
        <ItemBadge item={item} />
      </Group>
      {sample.error === null ? (
        <div className="template">{outputOf(item)}</div>
      ) : (
        <Text size="sm" c="var(--mantine-color-error)" className="wrap-anywhere">
          {sample.error.message}
        </Text>
      )}
      <Text size="xs" c="dimmed" className="tabular" mt="xs">
        {[
          sample.model,
          duration === null ? "" : formatMilliseconds(duration),
          cost === null ? "" : formatCost(cost),
          sample.usage.total_tokens === 0
            ? ""
            : plural(sample.usage.total_tokens, "{{count}} token", "{{count}} tokens"),
        ]
          .filter((part) => part !== "")
          .join(" · ")}
      </Text>
      <Stack gap={6} mt="xs">
        {results.map((result) => (
          <GraderLine key={result.name} result={result} />
        ))}
      </Stack>
    </Card>
  );
}

/** What a grader said: its score, and the reason of a model or of a failure. */
function GraderLine({ result }: { result: EvalItem["results"][number] }) {
  const { name, score, passed, error, sample } = result as typeof result & { error?: string; sample?: object };
  const { reasoning, label } = (sample ?? {}) as { reasoning?: string; label?: string };
  const detail = error ?? reasoning ?? label;
  return (
    <div>
      <Group gap={6}>
        <Badge size="xs" variant="dot" color={error === undefined ? (passed ? "teal" : "red") : "orange"} tt="none">
          {name}
        </Badge>
        <Text size="xs" className="tabular">
          {formatFixed(score, 2)}
        </Text>
      </Group>
      {detail !== undefined && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {detail}
        </Text>
      )}
    </div>
  );
}

function outputOf({ sample }: EvalItem): string {
  return sample.output.map(({ content }) => content).join("\n");
}
