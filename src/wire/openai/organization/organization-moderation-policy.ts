/** A project's moderation policy, in the format of a chat request's `moderation`. Not in OpenAI's API. */

import { z } from "zod";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { ModerationPolicy } from "../../openapi/project-policy-answers.ts";
import { ChatModerationFields, toChatModerationRequest } from "../chat/chat-moderation.ts";

const UnsupportedLanguage = z
  .strictObject({
    action: z.enum(["pass", "refuse", "model"], { error: "it must be pass, refuse or model" }),
    model: z.string().min(1).nullish(),
  })
  .refine(({ action, model }) => (action === "model") === (model != null), {
    path: ["model"],
    error: "set it with the action model, and only then",
  })
  .transform(({ action, model }) => ({ action, model: model ?? null }));

export const ModerationPolicyBody = named(
  "ModerationPolicyBody",
  z
    .strictObject({ ...ChatModerationFields, unsupported_language: UnsupportedLanguage.nullish() })
    .transform(({ unsupported_language: unsupportedLanguage, ...moderation }) => ({
      ...toChatModerationRequest(moderation),
      unsupportedLanguage: unsupportedLanguage ?? null,
    }))
    .refine(
      ({ input, output, unsupportedLanguage }) =>
        input !== undefined || output !== undefined || unsupportedLanguage !== null,
      { path: ["policy"], error: "set a mode for input, output or both, or set unsupported_language" },
    ),
);

type Body = z.output<typeof ModerationPolicyBody>;
type Mode = NonNullable<Body["input"]> | null;

interface Policy {
  model: string | null;
  input: Mode;
  output: Mode;
  unsupportedLanguage: Body["unsupportedLanguage"];
}

export function toModerationPolicy({
  model,
  input,
  output,
  unsupportedLanguage,
}: Policy): AnswerOf<typeof ModerationPolicy> {
  const direction = (mode: Mode) => (mode ? { mode } : null);
  return {
    object: "project.moderation_policy" as const,
    model,
    policy: { input: direction(input), output: direction(output) },
    unsupported_language: unsupportedLanguage,
  };
}

export function toModerationPolicyDeleted(deleted: boolean) {
  return { object: "project.moderation_policy.deleted" as const, deleted };
}
