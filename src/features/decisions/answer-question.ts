/** Answers one question: with one chat, or with one for the groups of many choices and one for each likely group. */

import {
  type Ask,
  askGroup,
  askLevel,
  askOption,
  askPredicate,
  GROUP_SIZE,
  type Option,
  toGroups,
} from "../../wire/openai/decisions/decision-prompts.ts";
import type { DecisionQuestion } from "../../wire/openai/decisions/decisions-body.ts";

/** Resolves with the probability of each label; undefined: a refusal. */
type AskModel = (ask: Ask) => Promise<readonly number[] | undefined>;

/** Groups below this probability are not asked about: their choices share it evenly. */
const MIN_GROUP_PROBABILITY = 0.05;

/** Resolves with the probability of each option of the question; undefined: a refusal. */
export function answerQuestion(question: DecisionQuestion, ask: AskModel): Promise<readonly number[] | undefined> {
  switch (question.type) {
    case "predicate":
      return ask(askPredicate());
    case "choice":
      return choose(
        question.choices.map(({ value, description }) => toOption(String(value), description)),
        ask,
      );
    case "score":
      return ask(askLevel(question.levels.map(({ label, description }) => toOption(label, description))));
  }
}

async function choose(options: readonly Option[], ask: AskModel): Promise<readonly number[] | undefined> {
  if (options.length <= GROUP_SIZE) return ask(askOption(options));
  const groups = toGroups(options);
  const likelihoods = await ask(askGroup(groups));
  if (likelihoods === undefined) return undefined;
  const probabilities: number[] = [];
  for (const [index, group] of groups.entries()) {
    const likelihood = likelihoods[index] ?? 0;
    const within =
      likelihood < MIN_GROUP_PROBABILITY || group.length === 1 ? evenly(group) : await ask(askOption(group));
    if (within === undefined) return undefined;
    probabilities.push(...within.map((each) => each * likelihood));
  }
  return probabilities;
}

function evenly(group: readonly Option[]): number[] {
  return group.map(() => 1 / group.length);
}

function toOption(text: string, description: string | null | undefined): Option {
  return { text, description: description ?? undefined };
}
