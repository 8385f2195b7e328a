import { Button, Group, Text } from "@mantine/core";
import { formatAgo, formatCost, formatNumber, formatPercent } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
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
  const usageOf = ({ version }: PromptVersion) => usage.find((each) => each.version === version);
  return (
    <ResourceTable
      title={t("Versions")}
      rows={versions}
      keyOf={({ version }) => String(version)}
      isSelected={({ version }) => version === shown}
      minWidth={820}
      maxHeight={420}
      empty={null}
      columns={[
        {
          label: t("Version"),
          className: "nowrap",
          cell: ({ version, created_at: time }) => (
            <>
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
            </>
          ),
        },
        { label: t("Labels"), cell: ({ labels }) => <LabelBadges labels={labels} /> },
        { label: t("Note"), className: "wrap-anywhere", cell: ({ note }) => note },
        { label: t("Requests"), isNumeric: true, cell: (version) => formatNumber(usageOf(version)?.requests ?? 0) },
        { label: t("Cost each"), isNumeric: true, cell: (version) => costOf(usageOf(version)) },
        { label: t("Rating"), isNumeric: true, cell: (version) => ratingOf(usageOf(version)) },
      ]}
      actions={({ version }) => (
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
              loading={move.isPending && move.variables?.version === version}
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
      )}
    />
  );
}

function isEarlier(version: number, production: number | undefined): boolean {
  return production !== undefined && version < production;
}

function costOf({ requests = 0, cost_usd: cost = null }: Partial<VersionUsage> = {}): string {
  return cost === null || requests === 0 ? "–" : formatCost(cost / requests);
}

function ratingOf({ ratings = 0, mean_score: score = null }: Partial<VersionUsage> = {}): string {
  return score === null ? "–" : t("{{share}} of {{number}}", { share: formatPercent(score), number: ratings });
}
