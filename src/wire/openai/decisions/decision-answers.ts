/** Answers of POST /v1/decisions. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { DecisionQuestion } from "./decisions-body.ts";

const count = z.int().min(0);
const probability = z.number().min(0).max(1);
const name = z.string().nullable();
const value = z.union([z.string(), z.boolean()]);

const Predicate = z.object({ type: z.literal("predicate"), name, probability });
const Choice = z.object({
  ...{ type: z.literal("choice"), name, choice: value },
  confidence: probability.describe("Probability of the choice."),
  probabilities: z.array(z.object({ value, probability })),
});
const Score = z.object({
  ...{ type: z.literal("score"), name },
  score: z.number().describe("Expected value of the level's index, which counts from 0."),
  confidence: probability.describe("Probability of the most likely level."),
  probabilities: z.array(z.object({ label: z.string(), value: count, probability })),
});
const Refusal = z.object({ type: z.literal("refusal"), name });

export const Decision = named(
  "Decision",
  lazy.object(() => ({
    model: z.string(),
    answers: z.array(z.discriminatedUnion("type", [Predicate, Choice, Score, Refusal])).describe("In question order."),
    usage: z.object({
      input_tokens: count,
      input_tokens_details: z.object({ cache_write_tokens: count, cached_tokens: count }),
      output_tokens: count,
      output_tokens_details: z.object({ reasoning_tokens: count }),
      total_tokens: count,
    }),
  })),
);

export type DecisionAnswer = AnswerOf<typeof Decision>["answers"][number];

/** Renders the answer to one question. `probabilities`: in the order of its options; undefined: a refusal. */
export function toDecisionAnswer(
  question: DecisionQuestion,
  probabilities: readonly number[] | undefined,
): DecisionAnswer {
  const { name: label } = question;
  const named = { name: label ?? null };
  if (probabilities === undefined) return { type: "refusal", ...named };
  const confidence = Math.max(...probabilities);
  switch (question.type) {
    case "predicate":
      return { type: "predicate", ...named, probability: probabilities[0] ?? 0 };
    case "choice": {
      const values = question.choices.map((choice) => choice.value);
      const choice = values[probabilities.indexOf(confidence)] as string | boolean;
      const each = values.map((option, index) => ({ value: option, probability: probabilities[index] ?? 0 }));
      return { type: "choice", ...named, choice, confidence, probabilities: each };
    }
    case "score": {
      const score = probabilities.reduce((sum, each, index) => sum + index * each, 0);
      const each = question.levels.map(({ label }, index) => ({
        ...{ label, value: index, probability: probabilities[index] ?? 0 },
      }));
      return { type: "score", ...named, score, confidence, probabilities: each };
    }
  }
}

export function toDecision(
  model: string,
  answers: readonly DecisionAnswer[],
  usage: TokenUsage,
): AnswerOf<typeof Decision> {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens, details } = usage;
  return {
    model,
    answers,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cache_write_tokens: details?.cacheWriteTokens ?? 0, cached_tokens: cachedTokens },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: promptTokens + completionTokens,
    },
  };
}
