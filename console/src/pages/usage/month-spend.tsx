import { Card, Group, Text, Title } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useSession } from "../../api/session.ts";
import { formatCost } from "../../components/format.ts";
import { type SpendLimit, spendLimitQuery } from "../../components/spend-form.tsx";
import { t } from "../../i18n/translate.ts";
import { overviewQuery } from "../overview/overview-query.ts";
import { pathOf } from "../projects/projects-api.ts";
import { monthSoFar } from "./month-so-far.ts";
import { readBuckets } from "./usage-query.ts";

const MonthChart = lazy(async () => ({ default: (await import("./month-chart.tsx")).MonthChart }));
const CHART_HEIGHT = 160;
/** The forecast reads four weeks before today, which begin at most so long before the month. */
const PAST_SECONDS = 28 * 86_400;

function monthQuery(project: string | null) {
  return queryOptions({
    queryKey: ["month-costs", project],
    queryFn: async ({ signal }) => {
      const now = new Date();
      const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
      const query = { start_time: start - PAST_SECONDS, limit: 60, ...(project !== null && { project_ids: project }) };
      const buckets = await readBuckets("v1/organization/costs", query, signal);
      return buckets.map(({ start_time, results }) => ({
        time: start_time,
        cost: results.reduce((sum, { amount }) => sum + (amount?.value ?? 0), 0),
      }));
    },
    refetchInterval: 15_000,
  });
}

/** Spend since the first of the month, day by day, with a forecast, against the limit of the project or the organization. */
export function MonthSpend({ project }: { project: string | null }) {
  const session = useSession();
  const projectId = session.project?.id ?? null;
  const days = useQuery(monthQuery(project));
  const owner = project === null ? "v1/organization" : pathOf(project);
  const set = useQuery({ ...spendLimitQuery(owner), enabled: session.is_admin });
  // A project's own key reads its limits from the overview.
  const overview = useQuery({ ...overviewQuery, enabled: !session.is_admin });
  const ownLimit = overview.data?.spend.limits.find(({ scope_id }) => scope_id === projectId);
  const limit = session.is_admin ? toLimit(set.data) : ownLimit;
  if (days.data === undefined) return null;
  const { spent, projected, basis, points } = monthSoFar(days.data, new Date());
  if (limit === undefined && projected === 0) return null;
  const isOver = limit !== undefined && projected > limit.threshold_usd;
  return (
    <Card>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2}>{t("Spend this month")}</Title>
        <Text size="sm" className="tabular">
          {spentOf(spent, limit)}
        </Text>
      </Group>
      <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
        <MonthChart points={points} limit={limit?.threshold_usd} height={CHART_HEIGHT} />
      </Suspense>
      <Text size="xs" c={isOver ? "var(--mantine-color-error)" : "dimmed"} mt="xs">
        {forecastOf(basis, formatCost(projected), isOver)}
      </Text>
    </Card>
  );
}

interface MonthLimit {
  threshold_usd: number;
  enforced: boolean;
}

function spentOf(spent: number, limit: MonthLimit | undefined): string {
  if (limit === undefined) return formatCost(spent);
  const values = { spent: formatCost(spent), limit: formatCost(limit.threshold_usd) };
  return limit.enforced ? t("{{spent}} of {{limit}}", values) : t("{{spent}} of {{limit}} (warns only)", values);
}

function forecastOf(basis: "weekdays" | "pace", projected: string, isOver: boolean): string {
  if (basis === "pace") {
    return isOver
      ? t("At this pace, {{projected}} by the end of the month: above the limit.", { projected })
      : t("At this pace, {{projected}} by the end of the month.", { projected });
  }
  return isOver
    ? t("By the weekdays of the last four weeks, {{projected}} by the end of the month: above the limit.", {
        projected,
      })
    : t("By the weekdays of the last four weeks, {{projected}} by the end of the month.", { projected });
}

function toLimit(limit: SpendLimit | null | undefined): MonthLimit | undefined {
  if (limit === null || limit === undefined) return undefined;
  return { threshold_usd: limit.threshold_amount / 100, enforced: limit.enforcement?.status !== "inactive" };
}
