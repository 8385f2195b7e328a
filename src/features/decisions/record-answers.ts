/** Adds the questions after the first, and the answers, to the record of the first chat. */

import type { ContentMessage } from "../../contracts/chat-content.ts";
import type { RequestRecording } from "../../inference/recording/request-recording.ts";
import type { DecisionAnswer } from "../../wire/openai/decisions/decision-answers.ts";
import { instructionsText } from "../../wire/openai/decisions/decision-prompts.ts";
import type { DecisionQuestion } from "../../wire/openai/decisions/decisions-body.ts";

/** `answers`: those so far, which some questions lack when another one fails. */
export function recordAnswers(
  recording: RequestRecording | undefined,
  questions: readonly DecisionQuestion[],
  answers: readonly (DecisionAnswer | undefined)[],
): void {
  const asked = recording?.content();
  if (recording === undefined || asked === undefined) return;
  const further = questions.slice(1).map(({ instructions }): ContentMessage => {
    return { role: "user", parts: [{ type: "text", content: instructionsText(instructions) }] };
  });
  const given = questions.map((_, index) => answers[index] ?? null);
  const answer: ContentMessage = {
    ...{ role: "assistant", finish_reason: "stop" },
    parts: [{ type: "text", content: JSON.stringify(given) }],
  };
  recording.readWith(() => ({
    inputMessages: [...asked.inputMessages, ...further],
    outputMessages: [answer],
  }));
}
