import { Card, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { BudgetBar } from "../../components/budget-bar.tsx";
import { formatCompact, formatMaybeCost } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Stat } from "../../components/stat.tsx";
import { t } from "../../i18n/translate.ts";
import { budgetTitle } from "../budgets/budget-names.ts";
import { pathOf } from "../projects/projects-api.ts";
import { isUnpriced, readBuckets } from "../usage/usage-query.ts";
import { MyKeys } from "./my-keys.tsx";

const REFRESH_MS = 15_000;

/** What the signed-in user has used and may spend: budgets, the month, and keys. */
export function MyUsagePage() {
  const { user, project } = useSession();
  if (user === null) {
    return (
      <Page title={t("My usage")}>
        <Text>{t("This session belongs to a key, not to a user.")}</Text>
      </Page>
    );
  }
  return (
    <Page title={t("My usage")} description={t("Your own requests, with your keys and in the console. Times are UTC.")}>
      <MyMonth user={user.id} project={project?.id} />
      <MyBudgets user={user.id} />
      {project !== null && (
        <Stack gap="xs">
          <Title order={2}>{t("My keys")}</Title>
          <MyKeys project={project.id} user={user.id} />
        </Stack>
      )}
    </Page>
  );
}

function MyBudgets({ user }: { user: string }) {
  const budgets = useQuery({
    queryKey: ["my-budgets", user],
    queryFn: ({ signal }) => request<Answers["UserBudgets"]>(`v1/organization/users/${user}/budgets`, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack gap="xs">
      <Title order={2}>{t("My budgets")}</Title>
      <QueryView query={budgets}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed" size="sm">
              {t("No budget bounds you or your keys alone. Those of your projects still apply.")}
            </Text>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
              {data.map((budget) => {
                const title = budgetTitle(budget);
                const isSoft = budget.enforcement.status === "inactive";
                return (
                  <Card key={`${budget.budget_id} ${budget.subject.id}`} padding="sm">
                    <Text size="sm" fw={500} mb={6} style={{ overflowWrap: "anywhere" }}>
                      {isSoft ? t("{{budget}} (alerts only)", { budget: title }) : title}
                    </Text>
                    <BudgetBar label={title} thresholdCents={budget.threshold_amount} usage={budget.usage} />
                  </Card>
                );
              })}
            </SimpleGrid>
          )
        }
      </QueryView>
    </Stack>
  );
}

function monthQuery(user: string, project: string | undefined) {
  return queryOptions({
    queryKey: ["my-month", user, project],
    queryFn: async ({ signal }) => {
      const now = new Date();
      const start_time = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
      const keys =
        project === undefined
          ? []
          : (
              await request<Answers["ProjectApiKeyList"]>(`${pathOf(project)}/api_keys`, {
                query: { limit: 100 },
                signal,
              })
            ).data;
      const ownKeys = keys.filter(({ owner }) => owner.type === "user" && owner.user.id === user).map(({ id }) => id);
      // Requests in the console have the ID of the user in place of a key.
      const query = { start_time, limit: 31, api_key_ids: [user, ...ownKeys] };
      const costs = await readBuckets("v1/organization/costs", query, signal);
      const chats = await readBuckets("v1/organization/usage/completions", { ...query, bucket_width: "1d" }, signal);
      const sum = (buckets: typeof chats, of: (result: (typeof chats)[number]["results"][number]) => number) =>
        buckets.flatMap(({ results }) => results).reduce((total, result) => total + of(result), 0);
      return {
        cost: isUnpriced(costs) ? null : sum(costs, ({ amount }) => amount?.value ?? 0),
        requests: sum(chats, ({ num_model_requests = 0 }) => num_model_requests),
        tokens: sum(chats, ({ input_tokens = 0, output_tokens = 0 }) => input_tokens + output_tokens),
      };
    },
    refetchInterval: REFRESH_MS,
  });
}

function MyMonth({ user, project }: { user: string; project: string | undefined }) {
  const month = useQuery(monthQuery(user, project));
  return (
    <QueryView query={month}>
      {({ cost, requests, tokens }) => (
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
          <Stat label={t("Cost this month")} value={formatMaybeCost(cost)} />
          <Stat label={t("Chats this month")} value={formatCompact(requests)} />
          <Stat label={t("Tokens this month")} value={formatCompact(tokens)} />
        </SimpleGrid>
      )}
    </QueryView>
  );
}
