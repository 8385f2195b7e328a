/** Reads and removes the text of forwarded text completions. */

import type { TextDelta } from "../../../contracts/answer-text.ts";
import { forwardedText } from "../../forwarded-answer.ts";
import { choicesOfFrames, endedIn, endOpenChoices } from "../chat/chat-answer-text.ts";

interface Choice {
  index?: number;
  text?: string;
}

function textsOf({ index: choice = 0, text = "" }: Choice): TextDelta[] {
  return [{ choice, part: "text", text }];
}

const EMPTY = { text: "", logprobs: null, finish_reason: "content_filter" };

export const completionAnswerText = forwardedText({
  textsOfFrames: (frames) => choicesOfFrames(frames).flatMap((choice) => textsOf(choice as Choice)),

  endedIn,

  textsOfCompletion: ({ fields }) => ((fields.choices ?? []) as Choice[]).flatMap(textsOf),

  endBlocked: (frames, open) => endOpenChoices(frames, open, EMPTY),

  emptyBlocked({ fields }) {
    const choices = ((fields.choices ?? []) as Choice[]).map(({ index = 0 }) => ({ index, ...EMPTY }));
    const emptied = { ...fields, choices };
    return { fields: emptied, json: JSON.stringify(emptied) };
  },
});
