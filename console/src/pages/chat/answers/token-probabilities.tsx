import { Text } from "@mantine/core";
import { formatPercent } from "../../../components/format.ts";
import { t } from "../../../i18n/translate.ts";
import type { TokenProbability } from "../conversation.ts";

/** Tokens of an answer, colored by how probable each was; pointing at one shows the others in its place. */
export function TokenProbabilities({ tokens }: { tokens: readonly TokenProbability[] }) {
  return (
    <div className="tokens">
      <Text size="xs" c="dimmed" component="p" className="tokens-legend">
        <span data-certainty="high">{t("above {{share}}", { share: formatPercent(0.9) })}</span>
        <span data-certainty="good">{t("above {{share}}", { share: formatPercent(0.5) })}</span>
        <span data-certainty="low">{t("above {{share}}", { share: formatPercent(0.1) })}</span>
        <span data-certainty="poor">{t("below {{share}}", { share: formatPercent(0.1) })}</span>
      </Text>
      <p dir="auto">
        {tokens.map(({ text, logprob, top }, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: tokens are only appended
            key={index}
            data-certainty={certaintyOf(Math.exp(logprob))}
            title={[{ text, logprob }, ...top.filter((each) => each.text !== text)].map(describe).join("\n")}
          >
            {text}
          </span>
        ))}
      </p>
    </div>
  );
}

function certaintyOf(probability: number): "high" | "good" | "low" | "poor" {
  if (probability >= 0.9) return "high";
  if (probability >= 0.5) return "good";
  return probability >= 0.1 ? "low" : "poor";
}

function describe({ text, logprob }: { text: string; logprob: number }): string {
  return `${JSON.stringify(text)} ${formatPercent(Math.exp(logprob))}`;
}
