import type { Answer } from "../conversation.ts";

/** The rate of a shorter time says nothing. */
const MIN_MEASURED_SECONDS = 0.02;

interface AnswerSpeed {
  /** Tokens per second after the first one; undefined: too short to tell. */
  tokensPerSecond: number | undefined;
  firstTokenSeconds: number | undefined;
}

/** Speed of an answer, as it is generated or when it is complete. */
export function speedOf({ measures, progress }: Pick<Answer, "measures" | "progress">): AnswerSpeed {
  const { firstTokenSeconds, seconds, tokens } =
    measures === undefined
      ? (progress ?? { firstTokenSeconds: undefined, seconds: 0, tokens: 0 })
      : { ...measures, tokens: measures.completionTokens };
  const generating = seconds - (firstTokenSeconds ?? 0);
  const isMeasured = tokens > 1 && generating > MIN_MEASURED_SECONDS;
  return { tokensPerSecond: isMeasured ? (tokens - 1) / generating : undefined, firstTokenSeconds };
}

interface Race {
  /** Highest rate of the answers, to which bars are drawn. */
  highest: number;
  /** Index of the answer with the highest rate, and of that which began first; undefined until all are complete. */
  fastest: number | undefined;
  first: number | undefined;
}

/** Compares answers to the same question. */
export function raceOf(answers: readonly Answer[]): Race {
  const speeds = answers.map(speedOf);
  const rates = speeds.map(({ tokensPerSecond = 0 }) => tokensPerSecond);
  const waits = speeds.map(({ firstTokenSeconds = Number.POSITIVE_INFINITY }) => firstTokenSeconds);
  const [highest, shortest] = [Math.max(0, ...rates), Math.min(...waits)];
  const isOver = answers.length > 1 && answers.every(({ state }) => state !== "running");
  return {
    highest,
    fastest: isOver && highest > 0 ? rates.indexOf(highest) : undefined,
    first: isOver && Number.isFinite(shortest) ? waits.indexOf(shortest) : undefined,
  };
}
