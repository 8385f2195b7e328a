import { Card, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { Ring } from "../../components/charts/ring.tsx";
import { formatCost, formatPercent } from "../../components/format.ts";
import { msg, t } from "../../i18n/translate.ts";
import { BUDGETS } from "../budgets/budget-form.tsx";
import { budgetTitle } from "../budgets/budget-names.ts";
import type { SpendLimit } from "./overview-query.ts";

const LIMITS = {
  organization: msg("The organization's monthly limit"),
  project: msg("The project's monthly limit"),
  api_key: msg("The key's monthly limit"),
};
const WARNING_LIMITS = {
  organization: msg("The organization's monthly limit (warns only)"),
  project: msg("The project's monthly limit (warns only)"),
  api_key: msg("The key's monthly limit (warns only)"),
};
const MAX_BUDGETS = 8;
const NEAR = 0.8;

interface Bound {
  id: string;
  title: string;
  spent: number;
  threshold: number;
}

/** Spend limits and budgets, each as the part that is spent. Nothing without any. */
export function SpendRings({ limits }: { limits: SpendLimit[] }) {
  const isReader = may(useSession(), "organization.read");
  const budgets = useQuery({
    queryKey: [...BUDGETS, "overview"],
    enabled: isReader,
    queryFn: async ({ signal }) =>
      (
        await request<Answers["BudgetList"]>("v1/organization/budgets", {
          query: { limit: MAX_BUDGETS },
          signal,
        })
      ).data,
    refetchInterval: 15_000,
  });
  const bounds = [...limits.flatMap(toBound), ...(budgets.data ?? []).flatMap(budgetBound)];
  if (bounds.length === 0) return null;
  return (
    <Card>
      <Title order={2} mb="sm">
        {t("Budgets")}
      </Title>
      <div className="rings">
        {bounds.map(({ id, title, spent, threshold }) => {
          const share = spent / Math.max(threshold, 0.01);
          return (
            <div key={id} className="ring-item">
              <Ring share={share} color={colorOf(share)} label={title}>
                {formatPercent(Math.round(100 * share) / 100)}
              </Ring>
              <div>
                <Text size="sm" fw={500} className="wrap-anywhere" lh={1.35}>
                  {title}
                </Text>
                <Text size="xs" c="dimmed" className="tabular">
                  {t("{{spent}} of {{limit}}", { spent: formatCost(spent), limit: formatCost(threshold) })}
                </Text>
              </div>
            </div>
          );
        })}
      </div>
    </Card>
  );
}

function colorOf(share: number): string {
  if (share >= 1) return "var(--chart-bad)";
  return share >= NEAR ? "var(--chart-2)" : "var(--chart-1)";
}

function toBound({ scope, scope_id, threshold_usd, month_usd, enforced }: SpendLimit): Bound[] {
  if (month_usd === null) return [];
  const title = t((enforced ? LIMITS : WARNING_LIMITS)[scope]);
  return [{ id: scope_id, title, spent: month_usd, threshold: threshold_usd }];
}

/** A budget that each user or key has for itself is not one sum. */
function budgetBound(budget: Answers["Budget"]): Bound[] {
  if (budget.usage === null) return [];
  const title = budget.name ?? budgetTitle(budget);
  return [{ id: budget.id, title, spent: budget.usage.spent.value, threshold: budget.threshold_amount / 100 }];
}
