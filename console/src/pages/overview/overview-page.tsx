import { Alert, Card, Group, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useSession } from "../../api/session.ts";
import { formatCompact, formatCost, formatMilliseconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { IconAlertTriangle } from "../../icons.tsx";
import { concernsOf } from "./attention.ts";
import { DeploymentTable } from "./deployment-table.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { type Overview, overviewQuery } from "./overview-query.ts";
import { SpendLimits } from "./spend-limits.tsx";

/** Charts are half of the page's code and not needed to read the numbers. */
const LastHourChart = lazy(async () => ({ default: (await import("./last-hour-chart.tsx")).LastHourChart }));
const CHART_HEIGHT = 180;

export function OverviewPage() {
  const { is_admin, project, organization } = useSession();
  const query = useQuery(overviewQuery);
  return (
    <Page
      title="Overview"
      description={is_admin ? organization.name : project?.name}
      actions={
        <Group gap={8} role="status">
          <span
            className="live-dot"
            style={{ background: `var(--mantine-color-${query.isError ? "red" : "teal"}-6)` }}
          />
          <Text size="sm" c="dimmed">
            {query.isError ? "Reconnecting…" : "Live"}
          </Text>
        </Group>
      }
    >
      <QueryView query={query}>{(overview) => <OverviewContent overview={overview} />}</QueryView>
    </Page>
  );
}

const RECENT_MINUTES = 5;

function OverviewContent({ overview }: { overview: Overview }) {
  const { minutes, first_token_ms: firstToken, spend, deployments } = overview;
  const hour = totals(minutes);
  const recent = totals(minutes.slice(-RECENT_MINUTES));
  const seconds = RECENT_MINUTES * 60;
  return (
    <>
      <FirstSteps overview={overview} />
      {concernsOf(overview).map(({ id, severity, title, detail }) => (
        <Alert
          key={id}
          color={severity === "error" ? "red" : "yellow"}
          variant="light"
          icon={<IconAlertTriangle />}
          title={title}
        >
          {detail}
        </Alert>
      ))}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
        <Stat
          label="Requests, last hour"
          value={formatCompact(hour.requests)}
          detail={`${(recent.requests / seconds).toFixed(2)} per second`}
        />
        <Stat
          label="Tokens, last hour"
          value={formatCompact(hour.input + hour.output)}
          detail={`${(recent.output / seconds).toFixed(1)} generated per second`}
        />
        <Stat
          label="Time to first token"
          value={firstToken.p50 === null ? "—" : formatMilliseconds(firstToken.p50)}
          detail={firstToken.p95 === null ? "No requests yet" : `95 % below ${formatMilliseconds(firstToken.p95)}`}
        />
        <Stat
          label="Errors, last hour"
          value={hour.errors}
          detail={hour.requests === 0 ? "" : `${((100 * hour.errors) / hour.requests).toFixed(1)} % of requests`}
        />
        <Stat
          label="Spend today"
          value={formatCost(spend.today_usd)}
          detail={`${formatCost(spend.month_usd)} this month`}
        />
      </SimpleGrid>
      <SpendLimits limits={spend.limits} todayUsd={spend.today_usd} />
      <Card>
        <Title order={2} mb="sm">
          Requests per minute
        </Title>
        <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
          <LastHourChart minutes={minutes} height={CHART_HEIGHT} />
        </Suspense>
      </Card>
      {deployments !== null && <DeploymentTable deployments={deployments} />}
    </>
  );
}

function totals(minutes: Overview["minutes"]) {
  const sum = { requests: 0, errors: 0, input: 0, output: 0 };
  for (const minute of minutes) {
    sum.requests += minute.requests;
    sum.errors += minute.errors;
    sum.input += minute.input_tokens;
    sum.output += minute.output_tokens;
  }
  return sum;
}
