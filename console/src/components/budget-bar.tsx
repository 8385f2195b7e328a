import { Group, Progress, Text } from "@mantine/core";
import { t } from "../i18n/translate.ts";
import { formatCost, formatDateTime } from "./format.ts";

interface BudgetBarProps {
  label: string;
  thresholdCents: number;
  usage: { spent: { value: number }; resets_at: number | null };
}

/** What is spent of a budget, and when it resets. */
export function BudgetBar({ label, thresholdCents, usage }: BudgetBarProps) {
  const threshold = thresholdCents / 100;
  const { value } = usage.spent;
  return (
    <>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm" className="tabular">
          {t("{{spent}} of {{limit}}", { spent: formatCost(value), limit: formatCost(threshold) })}
        </Text>
        <Text size="xs" c="dimmed" className="tabular">
          {usage.resets_at === null
            ? t("Does not reset")
            : t("Resets {{time}}", { time: formatDateTime(usage.resets_at) })}
        </Text>
      </Group>
      <Progress
        aria-label={label}
        value={Math.min(100, (100 * value) / threshold)}
        color={value >= threshold ? "red" : value >= 0.8 * threshold ? "yellow" : "pine"}
      />
    </>
  );
}
