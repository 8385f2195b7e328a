/** A project's moderation policy, in the format of a chat request's `moderation`. Not in OpenAI's API. */

import type { z } from "zod";
import { ChatModeration } from "./chat-moderation.ts";

export const ModerationPolicyBody = ChatModeration.refine(
  ({ input, output }) => input !== undefined || output !== undefined,
  { path: ["policy"], error: "set a mode for input, output or both" },
);

type Mode = z.output<typeof ModerationPolicyBody>["input"] | null;

export function toModerationPolicy({ model, input, output }: { model: string | null; input: Mode; output: Mode }) {
  const direction = (mode: Mode) => (mode ? { mode } : null);
  return {
    object: "project.moderation_policy" as const,
    model,
    policy: { input: direction(input), output: direction(output) },
  };
}

export function toModerationPolicyDeleted(deleted: boolean) {
  return { object: "project.moderation_policy.deleted" as const, deleted };
}
