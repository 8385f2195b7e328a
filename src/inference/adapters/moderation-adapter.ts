/** Adapts moderations to the life of a request. */

import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import type { ModerationInput, ModerationModel, ModerationVerdict } from "../../contracts/moderation-model.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { singleEvent } from "../../engines/shared/single-event.ts";
import type { Fault } from "../../kernel/faults.ts";
import type { Usage } from "../../kernel/usage.ts";
import { moderationParts } from "../cache/cache-parts.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

export interface ModerationRequest {
  inputs: readonly ModerationInput[];
  /** Fault that names the first image; thrown for models without image support. */
  imageFault: Fault | undefined;
  callerHeaders?: CallerHeaders;
}

export type ModerationVerdicts = readonly ModerationVerdict[];

/** Adapts moderation, whose answer is one event with all verdicts. */
export function moderationAdapter(
  { inputs, imageFault, callerHeaders }: ModerationRequest,
  project: string,
): TaskAdapter<ModerationModel, ModerationVerdicts> {
  // Classifiers do not report how many tokens they read.
  const countInputs = (used: Usage) => {
    used.characters = inputs.reduce((sum, { text }) => sum + text.length, 0);
    used.promptTokens = estimateModeration(inputs);
    used.estimated = true;
  };
  return {
    task: "moderation",
    upperBound: () => ({ ...NO_UPPER_BOUND, promptTokens: estimateModeration(inputs) }),
    cacheParts: () => moderationParts(inputs),
    isRepeatable: (answers) => !answers.flat().some(({ isProvisional }) => isProvisional),
    callerHeaders,
    affinity: () => undefined,
    refusal: (model) => (model.takesImages ? undefined : imageFault),
    begin: (model, id, signal) =>
      singleEvent(async () => {
        const verdicts = await model.moderate(inputs, signal, { model: id, project, callerHeaders });
        return signal.aborted ? undefined : verdicts;
      }),
    drainsToBuffer: () => true,
    count: (_verdicts, used) => {
      countInputs(used);
      return true;
    },
    countAbandoned: countInputs,
    isEnd: undefined,
  };
}

function estimateModeration(inputs: readonly ModerationInput[]): number {
  return inputs.reduce((sum, { text }) => sum + estimateTextTokens(text), 0);
}
