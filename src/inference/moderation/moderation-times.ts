/** How long the moderation of a request takes. */

import type { Settlement } from "../settlement.ts";
import { inOrder, type Stage } from "../stages.ts";

/** Times that one answer is moderated, as one stage each for the prompt and the answer. */
export class ModerationTimes {
  readonly #stages = new Map<"input" | "output", Stage>();

  get stages(): Stage[] {
    return [...this.#stages.values()];
  }

  /** Measures a call that resolves with the deployment that it asked. An answer is moderated in parts, which add up. */
  async measure<Result extends { deployment: string }>(
    part: "input" | "output",
    work: () => Promise<Result>,
  ): Promise<Result> {
    const beganAt = performance.now();
    const result = await work();
    const durationMs = performance.now() - beganAt;
    const stage = this.#stages.get(part);
    if (stage !== undefined) stage.durationMs += durationMs;
    else this.#stages.set(part, { kind: "moderation", deployment: result.deployment, beganAt, durationMs });
    return result;
  }
}

/** Adds the times of its moderation, which go on with the answer, to the settlement of an answer. */
export function withModeration<Answer extends { settlement(): Settlement | undefined }>(
  answer: Answer,
  times: ModerationTimes,
): Answer {
  return {
    ...answer,
    settlement: () => {
      const settlement = answer.settlement();
      return settlement && { ...settlement, stages: inOrder([...times.stages, ...settlement.stages]) };
    },
  };
}
