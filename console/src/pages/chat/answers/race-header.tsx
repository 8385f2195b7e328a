import { Group, Text } from "@mantine/core";
import { formatDecimal, formatSeconds } from "../../../components/format.ts";
import { t } from "../../../i18n/translate.ts";
import type { Answer } from "../conversation.ts";
import { speedOf } from "./answer-speed.ts";

interface RaceHeaderProps {
  answer: Answer;
  /** Highest rate of the answers beside each other. */
  highest: number;
  isFastest: boolean;
  isFirst: boolean;
}

/** Model and speed of one of several answers beside each other, while they are generated. */
export function RaceHeader({ answer, highest, isFastest, isFirst }: RaceHeaderProps) {
  const { tokensPerSecond, firstTokenSeconds } = speedOf(answer);
  const share = highest === 0 ? 0 : (tokensPerSecond ?? 0) / highest;
  return (
    <div className="race-header">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {answer.model}
        </Text>
        <Text size="sm" fw={600} className="tabular nowrap">
          {tokensPerSecond === undefined ? "" : t("{{rate}} tok/s", { rate: formatDecimal(tokensPerSecond) })}
        </Text>
      </Group>
      <div className="race-track" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} data-fastest={isFastest || undefined} />
      </div>
      <Group gap={6} mih={18}>
        <Text size="xs" c="dimmed" className="tabular">
          {firstTokenSeconds === undefined ? "" : t("first token {{time}}", { time: formatSeconds(firstTokenSeconds) })}
        </Text>
        {isFirst && <span className="race-badge">{t("First token")}</span>}
        {isFastest && <span className="race-badge">{t("Fastest")}</span>}
      </Group>
    </div>
  );
}
