import { Text } from "@mantine/core";
import type { ModelEntry } from "../../../api/models.ts";
import { formatCost, formatDecimal, formatSeconds } from "../../../components/format.ts";
import { t } from "../../../i18n/translate.ts";
import type { Answer, Measures } from "../conversation.ts";
import { speedOf } from "./answer-speed.ts";

interface MeasuresLineProps {
  answer: Answer;
  measures: Measures;
  model: ModelEntry | undefined;
}

/** Speed, tokens and cost of a complete answer. */
export function MeasuresLine({ answer, measures, model }: MeasuresLineProps) {
  const { firstTokenSeconds, promptTokens, completionTokens } = measures;
  const { tokensPerSecond } = speedOf(answer);
  const cost = costOf(measures, model);
  const parts = [
    tokensPerSecond !== undefined && t("{{rate}} tok/s", { rate: formatDecimal(tokensPerSecond) }),
    firstTokenSeconds !== undefined && t("first token {{time}}", { time: formatSeconds(firstTokenSeconds) }),
    t("{{input}} → {{output}} tokens", { input: promptTokens, output: completionTokens }),
    cost !== undefined && formatCost(cost),
  ].filter((part) => part !== false);
  return (
    <Text size="xs" c="dimmed" className="tabular" data-testid="measures">
      {parts.join(" · ")}
    </Text>
  );
}

function costOf(
  { promptTokens, cachedTokens = 0, completionTokens }: Measures,
  model: ModelEntry | undefined,
): number | undefined {
  const { prompt, cached_prompt: cached, completion, exchange_rate: rate } = model?.metadata.pricing ?? {};
  if (prompt == null || completion == null) return undefined;
  const read = Number(prompt) * (promptTokens - cachedTokens) + Number(cached ?? prompt) * cachedTokens;
  return Number(rate ?? 1) * (read + Number(completion) * completionTokens);
}
