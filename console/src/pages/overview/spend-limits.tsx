import { Card, Group, Progress, SimpleGrid, Text } from "@mantine/core";
import { formatCost } from "../../components/format.ts";
import type { SpendLimit } from "./overview-query.ts";

const LABELS = { organization: "Organization", project: "Project", api_key: "Key" } as const;

/** Spend of the month against each limit whose spend the key may see. */
export function SpendLimits({ limits, todayUsd }: { limits: SpendLimit[]; todayUsd: number }) {
  const shown = limits.flatMap((limit) => (limit.month_usd === null ? [] : [{ ...limit, month_usd: limit.month_usd }]));
  if (shown.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, md: Math.min(shown.length, 2) }} spacing="sm">
      {shown.map(({ scope, scope_id, threshold_usd, month_usd, enforced }) => {
        const name = `${LABELS[scope]}'s monthly spend limit`;
        const remaining = Math.max(0, threshold_usd - month_usd);
        return (
          <Card key={scope_id} padding="sm">
            <Group justify="space-between" mb={6} gap="xs">
              <Text size="sm" fw={500}>
                {name}
                {enforced ? "" : " (warns only)"}
              </Text>
              <Text size="sm" className="tabular">
                {formatCost(month_usd)} of {formatCost(threshold_usd)}
              </Text>
            </Group>
            <Progress
              aria-label={name}
              value={Math.min(100, (100 * month_usd) / Math.max(threshold_usd, 0.01))}
              color={month_usd >= threshold_usd ? "red" : "pine"}
            />
            <Text size="xs" c="dimmed" mt={6} className="tabular">
              {formatCost(remaining)} left{scope !== "api_key" && ` · ${formatCost(todayUsd)} today`}
            </Text>
          </Card>
        );
      })}
    </SimpleGrid>
  );
}
