/** Moderates the prompt of an image as the policies of its request require. */

import type { Fault } from "../../kernel/faults.ts";
import { mergeVerdicts } from "./merge-verdicts.ts";
import { type ModeratedRun, orFailure, refuseFlagged, rethrowAt } from "./moderate-chat.ts";
import type { ModerationPolicy } from "./moderation-policy.ts";
import type { ModerationTimes } from "./moderation-times.ts";

/** Adds to `times`. Throws a Fault when the policy blocks the prompt, or requires a verdict that no model gives. */
export async function moderatePrompt(
  prompt: string,
  policy: ModerationPolicy | undefined,
  { moderate, note }: Pick<ModeratedRun, "moderate" | "note">,
  times: ModerationTimes,
): Promise<void> {
  if (policy?.input === undefined || prompt === "") return;
  const ask = async () => {
    const inputs = [{ text: prompt, images: [] }];
    const options = { model: policy.model, inputs, imageFault: undefined, isWithinRequest: false };
    const { verdicts } = await times.measure("input", async () => {
      const answer = await moderate(options);
      const [verdicts] = await Array.fromAsync(answer.events);
      return { ...answer, verdicts };
    });
    return (verdicts ?? []).reduce(mergeVerdicts);
  };
  const verdict = ask().catch((failure: unknown): never => rethrowAt(failure, "prompt", policy));
  const outcome =
    policy.input === "block" ? await verdict : await verdict.catch((failure): Fault => orFailure(failure));
  note?.("input", outcome, policy.input);
  if (policy.input === "block" && "flags" in outcome) refuseFlagged(outcome, "prompt");
}
