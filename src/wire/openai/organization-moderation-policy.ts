/** A project's moderation policy, in the shape of a chat request's `moderation`; beyond OpenAI's resources. */

import type { z } from "zod";
import { ChatModeration } from "./chat-moderation.ts";

export const ModerationPolicyBody = ChatModeration.refine(
  ({ input, output }) => input !== undefined || output !== undefined,
  { path: ["policy"], error: "it must name a mode for input, for output or for both" },
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
