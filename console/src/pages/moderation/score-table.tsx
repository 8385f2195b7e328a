import { Progress, Table, Text } from "@mantine/core";
import { formatFixed } from "../../components/format.ts";
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
  const sorted = Object.entries(scores).sort(([, a], [, b]) => b - a);
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">{t("Category")}</Table.Th>
          <Table.Th>{t("Score")}</Table.Th>
          <Table.Th ta="right" w={80}>
            {t("Value")}
          </Table.Th>
          <Table.Th ta="right" w={110}>
            {t("Flagged from")}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sorted.map(([category, score]) => {
          const threshold = thresholds?.[category];
          const isFlagged = flags[category] === true;
          return (
            <Table.Tr key={category}>
              <Table.Td fw={isFlagged ? 600 : 400}>{category}</Table.Td>
              <Table.Td>
                <div className="score-bar">
                  <Progress value={100 * score} color={isFlagged ? "red" : "pine"} aria-label={category} />
                  {threshold !== undefined && (
                    <Tooltip label={t("Flagged from {{score}}", { score: formatFixed(threshold, 2) })}>
                      <span className="threshold" data-testid="threshold" style={{ left: `${100 * threshold}%` }} />
                    </Tooltip>
                  )}
                </div>
              </Table.Td>
              <Table.Td ta="right" className="tabular">
                <Text size="sm" span fw={isFlagged ? 600 : 400}>
                  {formatFixed(score, 3)}
                </Text>
              </Table.Td>
              <Table.Td ta="right" className="tabular" c="dimmed">
                {threshold === undefined ? "—" : formatFixed(threshold, 2)}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
