import { Button, Group, Table, Text } from "@mantine/core";
import { formatAgo, formatCost, formatNumber, formatPercent } from "../../components/format.ts";
import { TableCard } from "../../components/table-card.tsx";
import { t } from "../../i18n/translate.ts";
import { PRODUCTION, type PromptVersion, type StoredPrompt, type VersionUsage } from "./prompts-api.ts";
import { LabelBadges } from "./prompts-page.tsx";
import { useMoveLabel } from "./use-move-label.ts";

interface VersionTableProps {
  prompt: StoredPrompt;
  versions: readonly PromptVersion[];
  usage: readonly VersionUsage[];
  /** Number of the version below the table. */
  shown: number;
  isWriter: boolean;
  show: (version: number) => void;
  compare: (version: number) => void;
}

/** Versions, newest first, with what each cost and how it was rated. */
export function VersionTable({ prompt, versions, usage, shown, isWriter, show, compare }: VersionTableProps) {
  const { move } = useMoveLabel(prompt);
  const production = prompt.labels[PRODUCTION];
  return (
    <TableCard
      title={t("Versions")}
      columns={[
        t("Version"),
        t("Labels"),
        t("Note"),
        { label: t("Requests"), ta: "right" },
        { label: t("Cost each"), ta: "right" },
        { label: t("Rating"), ta: "right" },
      ]}
      hasActions
      minWidth={820}
      maxHeight={420}
    >
      {versions.map(({ version, labels, note, created_at: time }) => (
        <Table.Tr key={version} data-selected={version === shown || undefined} className="version-row">
          <Table.Td className="nowrap">
            <button
              type="button"
              className="link-button"
              aria-pressed={version === shown}
              onClick={() => show(version)}
            >
              {t("Version {{version}}", { version: String(version) })}
            </button>
            <Text size="xs" c="dimmed">
              {formatAgo(time)}
            </Text>
          </Table.Td>
          <Table.Td>
            <LabelBadges labels={labels} />
          </Table.Td>
          <Table.Td className="wrap-anywhere">{note}</Table.Td>
          <UsageCells usage={usage.find((each) => each.version === version)} />
          <Table.Td>
            <Group gap={4} justify="flex-end" wrap="nowrap">
              {versions.length > 1 && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  aria-label={t("Compare version {{version}}", { version: String(version) })}
                  onClick={() => compare(version)}
                >
                  {t("Compare")}
                </Button>
              )}
              {isWriter && version !== production && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  loading={move.isPending && move.variables.version === version}
                  aria-label={
                    isEarlier(version, production)
                      ? t("Roll back to version {{version}}", { version: String(version) })
                      : t("Roll out version {{version}}", { version: String(version) })
                  }
                  onClick={() => move.mutate({ label: PRODUCTION, version })}
                >
                  {isEarlier(version, production) ? t("Roll back") : t("Roll out")}
                </Button>
              )}
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </TableCard>
  );
}

function isEarlier(version: number, production: number | undefined): boolean {
  return production !== undefined && version < production;
}

function UsageCells({ usage }: { usage: VersionUsage | undefined }) {
  const { requests = 0, cost_usd: cost = null, ratings = 0, mean_score: score = null } = usage ?? {};
  return (
    <>
      <Table.Td ta="right" className="tabular">
        {formatNumber(requests)}
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {cost === null || requests === 0 ? "–" : formatCost(cost / requests)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {score === null ? "–" : t("{{share}} of {{number}}", { share: formatPercent(score), number: ratings })}
      </Table.Td>
    </>
  );
}
