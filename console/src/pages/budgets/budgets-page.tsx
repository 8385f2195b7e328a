import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { request, retrieveOrNull } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { useEntries } from "../../api/use-entries.ts";
import { BudgetBar } from "../../components/budget-bar.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatCost } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconCoin, IconPlus } from "../../icons.tsx";
import { BUDGETS, BUDGETS_PATH, BudgetForm } from "./budget-form.tsx";
import { budgetTitle } from "./budget-names.ts";

type Budget = Answers["Budget"];

const REFRESH_MS = 15_000;

/** Budgets of the organization and its projects, with what is spent. */
export function BudgetsPage() {
  const isWriter = may(useSession(), "organization.write");
  const { query, entries, readMore } = useEntries<Budget>(BUDGETS, BUDGETS_PATH, {});
  const [form, setForm] = useState<{ budget: Budget | undefined }>();
  return (
    <Page
      title={t("Budgets")}
      description={t("Bounds of spending at the prices of models. Days, weeks and months begin at midnight UTC.")}
      actions={
        isWriter && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setForm({ budget: undefined })}>
            {t("New budget")}
          </Button>
        )
      }
    >
      <QueryView query={query} loading="table">
        {() =>
          entries?.length === 0 ? (
            <Card>
              <Empty icon={<IconCoin />} title={t("No budgets yet")}>
                {t("A budget bounds what a user, a key, a project, an end user or a tag may cost.")}
              </Empty>
            </Card>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
              {entries?.map((budget) => (
                <BudgetCard key={budget.id} budget={budget} isWriter={isWriter} onChange={() => setForm({ budget })} />
              ))}
            </SimpleGrid>
          )
        }
      </QueryView>
      {query.hasNextPage && (
        <Button variant="default" onClick={readMore} loading={query.isFetchingNextPage}>
          {t("More")}
        </Button>
      )}
      {form !== undefined && (
        <BudgetForm budget={form.budget} existing={entries ?? []} onClose={() => setForm(undefined)} />
      )}
    </Page>
  );
}

function BudgetCard({ budget, isWriter, onChange }: { budget: Budget; isWriter: boolean; onChange: () => void }) {
  const title = budgetTitle(budget);
  return (
    <Card padding="sm">
      <Group justify="space-between" mb={6} gap="xs" wrap="nowrap">
        <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
          {title}
        </Text>
        <Badge variant="light" color={budget.enforcement.status === "enforcing" ? "pine" : "gray"}>
          {budget.enforcement.status === "enforcing" ? t("Hard") : t("Alerts only")}
        </Badge>
      </Group>
      {budget.usage === null ? (
        <TopSpenders budget={budget} />
      ) : (
        <BudgetBar label={title} thresholdCents={budget.threshold_amount} usage={budget.usage} />
      )}
      {budget.project_id !== null && (
        <Text size="xs" c="dimmed" mt={6}>
          {t("In the project {{project}}", { project: budget.project_id })}
        </Text>
      )}
      {isWriter && (
        <Group justify="flex-end" gap="xs" mt={6}>
          <Button variant="subtle" size="compact-sm" onClick={onChange}>
            {t("Change")}
          </Button>
          <ConfirmButton
            question={t("Delete the budget {{title}}?", { title })}
            consequence={t("Its spending is no longer bounded. Usage records stay.")}
            onConfirm={() => request(`${BUDGETS_PATH}/${budget.id}`, { method: "DELETE" })}
            changes={[BUDGETS]}
          >
            {t("Delete")}
          </ConfirmButton>
        </Group>
      )}
    </Card>
  );
}

const SHOWN_SPENDERS = 5;

/** Who has spent most of a budget that each one has for itself. */
function TopSpenders({ budget }: { budget: Budget }) {
  const usage = useQuery({
    queryKey: [...BUDGETS, budget.id, "usage"],
    // The budget may have been deleted since the list was read.
    queryFn: ({ signal }) =>
      retrieveOrNull<Answers["BudgetUsage"]>(`${BUDGETS_PATH}/${budget.id}/usage?limit=${SHOWN_SPENDERS}`, signal),
    refetchInterval: REFRESH_MS,
  });
  const threshold = formatCost(budget.threshold_amount / 100);
  return (
    <Stack gap={6}>
      <Text size="sm" className="tabular">
        {t("{{threshold}} each", { threshold })}
      </Text>
      {usage.data?.data.map(({ subject_id, spent, percent }) => (
        <div key={subject_id}>
          <Group justify="space-between" gap="xs">
            <Text size="xs" style={{ overflowWrap: "anywhere" }}>
              {subject_id}
            </Text>
            <Text size="xs" className="tabular">
              {formatCost(spent.value)}
            </Text>
          </Group>
          <Progress
            size="sm"
            aria-label={t("Budget of {{subject}}", { subject: subject_id })}
            value={Math.min(100, percent)}
            color={percent >= 100 ? "red" : "pine"}
          />
        </div>
      ))}
      {usage.data?.data.length === 0 && (
        <Text size="xs" c="dimmed">
          {t("Nothing is spent yet.")}
        </Text>
      )}
    </Stack>
  );
}
