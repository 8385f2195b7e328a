import { Progress } from "@mantine/core";
import { formatFixed } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";

interface ScoreTableProps {
  scores: Readonly<Record<string, number>>;
  flags: Readonly<Record<string, boolean>>;
  /** Score from which each category is flagged; null when the model does not report it. */
  thresholds: Readonly<Record<string, number>> | null;
}

/** Scores as bars, the highest first, with the threshold of each category as a mark. */
export function ScoreTable({ scores, flags, thresholds }: ScoreTableProps) {
  const rows = Object.entries(scores)
    .map(([category, score]) => ({
      category,
      score,
      isFlagged: flags[category] === true,
      threshold: thresholds?.[category],
    }))
    .sort((a, b) => b.score - a.score);
  return (
    <ResourceTable
      isBare
      rows={rows}
      keyOf={({ category }) => category}
      empty={null}
      columns={[
        {
          label: t("Category"),
          cell: ({ category, isFlagged }) => <span style={{ fontWeight: isFlagged ? 600 : 400 }}>{category}</span>,
        },
        { label: t("Score"), minWidth: 160, cell: Bar },
        {
          label: t("Value"),
          isNumeric: true,
          cell: ({ score, isFlagged }) => (
            <span style={{ fontWeight: isFlagged ? 600 : 400 }}>{formatFixed(score, 3)}</span>
          ),
        },
        {
          label: t("Flagged from"),
          isNumeric: true,
          className: "cell-dimmed",
          cell: ({ threshold }) => (threshold === undefined ? "—" : formatFixed(threshold, 2)),
        },
      ]}
    />
  );
}

interface BarProps {
  category: string;
  score: number;
  isFlagged: boolean;
  threshold: number | undefined;
}

function Bar({ category, score, isFlagged, threshold }: BarProps) {
  return (
    <div className="score-bar">
      <Progress value={100 * score} color={isFlagged ? "red" : "pine"} aria-label={category} />
      {threshold !== undefined && (
        <Tooltip label={t("Flagged from {{score}}", { score: formatFixed(threshold, 2) })}>
          <span className="threshold" data-testid="threshold" style={{ left: `${100 * threshold}%` }} />
        </Tooltip>
      )}
    </div>
  );
}
