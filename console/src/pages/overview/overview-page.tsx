import { Alert, Badge, Card, Group, Progress, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconServer } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatCompact, formatCost, formatMilliseconds } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { type Deployment, type Overview, overviewQuery } from "./overview-query.ts";

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
  const problems = (deployments ?? []).filter(needsAttention);
  return (
    <>
      {problems.map((each) => (
        <Alert
          key={`${each.model} ${each.deployment}`}
          color="red"
          variant="light"
          icon={<IconAlertTriangle />}
          title={`${each.deployment} ${each.circuit === "closed" ? `is ${each.state}` : "is paused after repeated failures"}`}
        >
          {each.reason ?? "Requests go to other deployments of the model, if it has any."}
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
      {spend.limits.map((limit) => (
        <Card key={limit.scope_id} padding="sm">
          <Group justify="space-between" mb={6}>
            <Text size="sm">Monthly spend limit{limit.enforced ? "" : " (warns only)"}</Text>
            <Text size="sm" className="tabular">
              {formatCost(spend.month_usd)} of {formatCost(limit.threshold_usd)}
            </Text>
          </Group>
          <Progress
            aria-label="Share of the monthly spend limit"
            value={Math.min(100, (100 * spend.month_usd) / Math.max(limit.threshold_usd, 0.01))}
            color={spend.month_usd >= limit.threshold_usd ? "red" : "cyan"}
          />
        </Card>
      ))}
      <Card>
        <Title order={2} mb="sm">
          Requests per minute
        </Title>
        <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
          <LastHourChart minutes={minutes} height={CHART_HEIGHT} />
        </Suspense>
      </Card>
      {deployments !== null && <Deployments deployments={deployments} />}
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

function needsAttention({ state, circuit }: Deployment): boolean {
  return state === "failed" || state === "restarting" || circuit !== "closed";
}

/** Those in use first. */
function byState(a: Deployment, b: Deployment): number {
  return Number(a.state === "unloaded") - Number(b.state === "unloaded");
}

function Deployments({ deployments }: { deployments: Deployment[] }) {
  return (
    <Card padding={0}>
      <Title order={2} p="md" pb="xs">
        Deployments
      </Title>
      {deployments.length === 0 ? (
        <Empty icon={<IconServer />} title="No deployments">
          Add models to parlance.yaml.
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={760} tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Model</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Device</Table.Th>
                <Table.Th ta="right">Memory</Table.Th>
                <Table.Th ta="right">Slots</Table.Th>
                <Table.Th ta="right">Queue</Table.Th>
                <Table.Th ta="right">First token</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {deployments.toSorted(byState).map((each) => (
                <Table.Tr key={`${each.model} ${each.deployment}`}>
                  <Table.Td>
                    <Stack gap={0}>
                      <Text size="sm" fw={500} className="wrap-anywhere">
                        {each.model}
                      </Text>
                      <Text size="xs" c="dimmed">
                        {each.task} · {each.engine}
                      </Text>
                    </Stack>
                  </Table.Td>
                  <Table.Td>
                    <Group gap={6}>
                      <StatusBadge state={each.state} />
                      {each.circuit !== "closed" && (
                        <Badge color="red" variant="light">
                          circuit {each.circuit}
                        </Badge>
                      )}
                    </Group>
                  </Table.Td>
                  <Table.Td>{each.device ?? "—"}</Table.Td>
                  <Table.Td ta="right" className="tabular nowrap">
                    {each.memory_bytes === null ? "—" : formatBytes(each.memory_bytes)}
                  </Table.Td>
                  <Table.Td ta="right" className="tabular">
                    {each.slots === null ? each.slots_in_use : `${each.slots_in_use} / ${each.slots}`}
                  </Table.Td>
                  <Table.Td ta="right" className="tabular">
                    {each.waiting}
                  </Table.Td>
                  <Table.Td ta="right" className="tabular nowrap">
                    {each.first_token_seconds === null ? "—" : formatMilliseconds(1000 * each.first_token_seconds)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}
