import "./overview.css";
import { ActionIcon, Alert, Group, SimpleGrid, Text } from "@mantine/core";
import { useFullscreenElement } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../api/session.ts";
import {
  formatCompact,
  formatDecimal,
  formatMaybeCost,
  formatMilliseconds,
  formatPercent,
} from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconAlertTriangle, IconMaximize, IconMinimize } from "../../icons.tsx";
import { concernsOf } from "./attention.ts";
import { DeploymentTable } from "./deployment-table.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { LastHourCharts } from "./last-hour-charts.tsx";
import { MemoryBars } from "./memory-bars.tsx";
import { RECENT_MINUTES, requestsPerMinute, totals } from "./minute-sums.ts";
import { type Overview, overviewQuery } from "./overview-query.ts";
import { SpendRings } from "./spend-rings.tsx";

export function OverviewPage() {
  const { is_admin, project, organization } = useSession();
  const query = useQuery(overviewQuery);
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLDivElement>();
  // A failed attempt is repeated for seconds before it counts as an error.
  const connection =
    query.failureCount > 0
      ? { color: "red", text: t("Reconnecting…") }
      : query.data === undefined
        ? { color: "gray", text: t("Connecting…") }
        : { color: "teal", text: t("Live") };
  const Icon = fullscreen ? IconMinimize : IconMaximize;
  const action = fullscreen ? t("Leave full screen") : t("Full screen");
  return (
    <Page
      ref={ref}
      className="wall"
      title={t("Overview")}
      description={is_admin ? organization.name : project?.name}
      actions={
        <Group gap={12}>
          <Group gap={8} role="status">
            <span className="live-dot" style={{ background: `var(--mantine-color-${connection.color}-6)` }} />
            <Text size="sm" c="dimmed">
              {connection.text}
            </Text>
          </Group>
          {document.fullscreenEnabled && (
            <Tooltip label={action} disabled={fullscreen}>
              <ActionIcon variant="default" size={34} aria-label={action} onClick={() => void toggle()}>
                <Icon size={17} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      }
    >
      <QueryView query={query} loading="overview">
        {(overview) => <OverviewContent overview={overview} />}
      </QueryView>
    </Page>
  );
}

function OverviewContent({ overview }: { overview: Overview }) {
  const { spend, deployments } = overview;
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
      <Stats overview={overview} />
      <LastHourCharts overview={overview} />
      <div className="overview-pair">
        <SpendRings limits={spend.limits} />
        <MemoryBars deployments={deployments ?? []} />
      </div>
      {deployments !== null && <DeploymentTable deployments={deployments} />}
    </>
  );
}

function Stats({ overview }: { overview: Overview }) {
  const { minutes, first_token_ms: firstToken, spend, output_tokens_per_second: rate } = overview;
  const hour = totals(minutes);
  // The current minute is not over: its sums would look like a drop.
  const complete = minutes.slice(0, -1);
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm" className="overview-figures">
      <Stat
        label={t("Requests, last hour")}
        value={formatCompact(hour.requests)}
        detail={t("{{number}} per minute, last {{minutes}} minutes", {
          number: formatDecimal(requestsPerMinute(minutes)),
          minutes: RECENT_MINUTES,
        })}
        course={{ values: complete.map(({ requests }) => requests), color: "var(--chart-1)" }}
      />
      <Stat
        label={t("Time to first token")}
        value={firstToken.p50 === null ? "—" : formatMilliseconds(firstToken.p50)}
        detail={
          firstToken.p95 === null
            ? t("No requests yet")
            : t("95 % below {{time}}", { time: formatMilliseconds(firstToken.p95) })
        }
        course={{ values: complete.map(({ first_token_ms: { p50 } }) => p50 ?? 0), color: "var(--chart-1)" }}
      />
      <Stat
        label={t("Errors, last hour")}
        value={formatCompact(hour.errors)}
        detail={
          hour.requests === 0
            ? ""
            : t("{{percent}} of requests", { percent: formatPercent(hour.errors / hour.requests) })
        }
        course={{ values: complete.map(({ errors }) => errors), color: "var(--chart-bad)" }}
      />
      <Stat
        label={t("Tokens per second")}
        value={formatDecimal(rate)}
        detail={t("{{number}} tokens in the last hour", { number: formatCompact(hour.input + hour.output) })}
        course={{ values: complete.map(({ output_tokens }) => output_tokens), color: "var(--chart-2)" }}
      />
      <Stat
        label={t("Spend today")}
        value={formatMaybeCost(spend.today_unpriced ? null : spend.today_usd)}
        detail={t("{{cost}} this month", { cost: formatMaybeCost(spend.month_unpriced ? null : spend.month_usd) })}
      />
    </SimpleGrid>
  );
}
