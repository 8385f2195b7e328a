/** Adds the questions after the first, and the answers, to the record of the first chat. */

import type { ContentMessage } from "../../contracts/chat-content.ts";
import type { DecisionAnswer } from "../../wire/openai/decisions/decision-answers.ts";
import type { DecisionQuestion } from "../../wire/openai/decisions/decisions-body.ts";
import type { QuestionChats } from "./question-chats.ts";

/**
 * Questions are recorded as guardrails left them; those that no model received are not. `answers`: those so far, which
 * some questions lack when another one fails.
 */
export function recordAnswers(
  { recording, questionTexts }: Pick<QuestionChats, "recording" | "questionTexts">,
  questions: readonly DecisionQuestion[],
  answers: readonly (DecisionAnswer | undefined)[],
): void {
  const first = recording?.content();
  if (recording === undefined || first === undefined) return;
  const further = questions.flatMap((_, index): ContentMessage[] => {
    const { text } = questionTexts.get(index) ?? {};
    return index === 0 || text === undefined ? [] : [{ role: "user", parts: [{ type: "text", content: text }] }];
  });
  const recordedAnswers = questions.map((_, index) => {
    const answer = answers[index] ?? null;
    return questionTexts.get(index)?.isAsSent === true ? answer : withoutTexts(answer);
  });
  const answer: ContentMessage = {
    ...{ role: "assistant", finish_reason: "stop" },
    parts: [{ type: "text", content: JSON.stringify(recordedAnswers) }],
  };
  recording.readWith(() => ({
    inputMessages: [...first.inputMessages, ...further],
    outputMessages: [answer],
  }));
}

/** Answers repeat the caller's texts, which guardrails hid from the model. */
function withoutTexts(answer: DecisionAnswer | null): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) => {
    return typeof value === "string" && key !== "type" ? null : value;
  });
}
